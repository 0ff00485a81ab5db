import { describe, expect, it } from '@jest/globals';
import { listSessions } from '../../../src/client/list.ts';
import { LogUnreadableError } from '../../../src/contract/errors.ts';
import type { Stores } from '../../../src/ports/store.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, ROOT, SESSION } from '../../support/logs.ts';
import { writeLog } from '../../support/written.ts';

/** The log under another id, started so many seconds later. */
const as = (session: string, seconds: number, rows: readonly Envelope[]): Envelope[] =>
  JSON.parse(JSON.stringify(rows).replaceAll(`"${SESSION}`, `"${session}`)).map((row: Envelope) => ({
    ...row,
    at: new Date(Date.parse(row.at) + seconds * 1_000).toISOString(),
  }));

const running = begun().add('AgentLifecycle', ROOT, { phase: 'running' }).rows;
const waiting = begun()
  .add('PauseRaised', ROOT, { pause: 'p', kind: 'approval', accepts: ['approve'] })
  .add('AgentLifecycle', ROOT, { phase: 'waiting' }).rows;
const failed = begun().add('AgentLifecycle', ROOT, { phase: 'failed', reason: 'finish-length' }).rows;

async function some(): Promise<Stores> {
  const stores = memoryStores();
  await writeLog(stores, as('a', 1, running));
  await writeLog(stores, as('b', 2, waiting));
  await writeLog(stores, as('c', 3, failed));
  return stores;
}

describe('listSessions', () => {
  it('gives where each stands, the newest first', async () => {
    const found = await listSessions(await some(), {});
    expect(
      found.map(({ session, phase, reason, pauses, lastSeq }) => [session, phase, reason, pauses, lastSeq]),
    ).toEqual([
      ['c', 'failed', 'finish-length', 0, 2],
      ['b', 'waiting', null, 1, 3],
      ['a', 'running', null, 0, 2],
    ]);
    expect(found[0]).toMatchObject({ goal: 'résumé 😀', endedAt: '2026-11-30T10:00:03.000Z' });
  });

  it('R2: says which wait for an operator', async () => {
    const stores = await some();
    const at = '2026-11-30T10:00:04.000Z';
    for (const session of ['b', 'c']) await stores.list({ session, class: 'side-effects', why: 'it has', at });
    const found = await listSessions(stores, {});
    expect(found.map(({ session, recoverable }) => [session, recoverable])).toEqual([
      ['c', null],
      ['b', 'side-effects'],
      ['a', null],
    ]);
  });

  it('F6: does not need the completed record, and reads no more than the first event where there is one', async () => {
    const stores = await some();
    const at = '2026-11-30T10:00:03.000Z';
    const before = await listSessions(stores, { phase: 'failed' });
    await stores.write([{ into: 'completed', session: 'c', phase: 'failed', reason: 'finish-length', lastSeq: 2, at }]);
    const limits: (number | undefined)[] = [];
    const read: Stores['read'] = (session, from, limit) => {
      if (session === 'c') limits.push(limit);
      return stores.read(session, from, limit);
    };
    expect(await listSessions({ ...stores, read }, { phase: 'failed' })).toEqual(before);
    expect(limits).toEqual([1]);
  });

  it('limits and filters, also over several pages', async () => {
    const stores = memoryStores();
    for (let i = 0; i < 250; i++) await writeLog(stores, as(`s-${i}`, i, i % 10 === 0 ? failed : running));
    const sessions = async (options: object) => (await listSessions(stores, options)).map(({ session }) => session);
    expect(await sessions({ limit: 3 })).toEqual(['s-249', 's-248', 's-247']);
    expect(await sessions({})).toHaveLength(100);
    expect(await sessions({ limit: Number.POSITIVE_INFINITY })).toHaveLength(250);
    expect(await sessions({ phase: 'failed', limit: 20 })).toEqual(
      Array.from({ length: 20 }, (_, i) => `s-${240 - 10 * i}`),
    );
    expect(await sessions({ phase: 'cancelled' })).toEqual([]);
  });

  it('L8: shows a log that cannot be read, and all others', async () => {
    const stores = await some();
    const read: Stores['read'] = async (session, from, limit) => {
      if (session === 'b') throw new LogUnreadableError(session, 1, 'altered');
      return stores.read(session, from, limit);
    };
    expect(await listSessions({ ...stores, read }, {})).toMatchObject([
      { session: 'c', unreadable: null },
      { session: 'b', phase: null, unreadable: expect.stringContaining('seq 1') },
      { session: 'a', unreadable: null },
    ]);
  });
});
