import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { type TailOptions, tailLog } from '../../../src/client/tail.ts';
import { LogUnreadableError, SessionNotFoundError, StoreUnreachableError } from '../../../src/contract/errors.ts';
import type { Stores } from '../../../src/ports/store.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, LogWriter, ROOT, SESSION } from '../../support/logs.ts';
import { until } from '../../support/until.ts';
import { writeLog } from '../../support/written.ts';

const ended = begun()
  .add('AgentLifecycle', ROOT, { phase: 'running' })
  .born(`${SESSION}/worker-2`, ROOT)
  .add('AgentLifecycle', `${SESSION}/worker-2`, { phase: 'completed' })
  .add('AgentLifecycle', ROOT, { phase: 'completed' }).rows;

async function storesWith(rows: readonly Envelope[]): Promise<Stores> {
  const stores = memoryStores();
  await writeLog(stores, rows);
  return stores;
}

async function seqs(stores: Pick<Stores, 'read'>, options: TailOptions = {}): Promise<number[]> {
  const found: number[] = [];
  for await (const { seq } of tailLog(stores, SESSION, options)) found.push(seq);
  return found;
}

/** Reads that follow, as they are told. */
function failing(stores: Stores, fails: (read: number) => Error | null): Pick<Stores, 'read'> {
  let reads = 0;
  return {
    read: async (...args) => {
      reads += 1;
      const error = fails(reads);
      if (error) throw error;
      return stores.read(...args);
    },
  };
}

describe('tailLog', () => {
  it('F3: gives the whole log and ends with the root, not with a child', async () => {
    expect(await seqs(await storesWith(ended))).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([
    [2, [2, 3, 4, 5]],
    [5, [5]],
    [6, []],
    [1_000, []],
  ])('begins at seq %i, and ends where that is past the end', async (from, expected) => {
    expect(await seqs(await storesWith(ended), { from })).toEqual(expected);
  });

  it('finds the root of a log without SessionStarted', async () => {
    const { rows } = new LogWriter().born(ROOT, null).add('AgentLifecycle', ROOT, { phase: 'failed' });
    expect(await seqs(await storesWith(rows), { from: 1 })).toEqual([1]);
  });

  it('gives more than it reads at once', async () => {
    const log = begun();
    for (let i = 0; i < 2_500; i++) log.add('AgentLifecycle', ROOT, { phase: 'running' });
    log.add('AgentLifecycle', ROOT, { phase: 'completed' });
    expect(await seqs(await storesWith(log.rows), { from: 7 })).toEqual(log.rows.map(({ seq }) => seq).slice(7));
  });

  it('follows what is logged meanwhile, once each', async () => {
    const stores = await storesWith(ended.slice(0, 2));
    const following = seqs(stores);
    for (const row of ended.slice(2)) {
      await sleep(30);
      await writeLog(stores, [row]);
    }
    expect(await following).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('bears with a store that is away once it has answered', async () => {
    const stores = await storesWith(ended.slice(0, 2));
    const away = new StoreUnreachableError('mongodb://db');
    const following = seqs(failing(stores, (read) => (read === 3 || read === 4 ? away : null)));
    await sleep(300);
    await writeLog(stores, ended.slice(2));
    expect(await following).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('says at once that a store is away when it never answered', async () => {
    const stores = failing(memoryStores(), () => new StoreUnreachableError('mongodb://db'));
    await expect(seqs(stores)).rejects.toThrow(StoreUnreachableError);
  });

  it('L8: stops at a row that cannot be read', async () => {
    const broken = new LogUnreadableError(SESSION, 2, 'altered');
    const stores = failing(await storesWith(ended.slice(0, 2)), (read) => (read > 2 ? broken : null));
    await expect(seqs(stores)).rejects.toThrow(broken);
  });

  it('refuses a session that is not there', async () => {
    await expect(seqs(memoryStores())).rejects.toThrow(SessionNotFoundError);
  });

  it('ends at once when it is told to', async () => {
    const controller = new AbortController();
    const found: number[] = [];
    const following = (async () => {
      const stores = await storesWith(ended.slice(0, 3));
      for await (const { seq } of tailLog(stores, SESSION, { signal: controller.signal })) found.push(seq);
    })();
    await until('it waits', () => found.length === 3);
    const since = Date.now();
    controller.abort();
    await following;
    expect(Date.now() - since).toBeLessThan(100);
  });
});
