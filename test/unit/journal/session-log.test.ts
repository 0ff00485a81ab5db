import { beforeEach, describe, expect, it } from '@jest/globals';
import { FencedError, SessionTerminalError, StoreUnreachableError } from '../../../src/contract/errors.ts';
import { type Author, draft, type Entry, SessionLog } from '../../../src/journal/session-log.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { fold } from '../../../src/session/fold.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, ROOT, SESSION } from '../../support/logs.ts';

const by = (epoch: number): Author => ({ agent: ROOT, resume: 0, epoch });
const resuming = (epoch: number): Entry => draft('AgentResuming', ROOT, `resuming/${epoch}`, { epoch, snapshot: null });
const running = (id: string): Entry => draft('AgentLifecycle', ROOT, id, { phase: 'running' });
const completed: Entry = draft('AgentLifecycle', ROOT, 'end', { phase: 'completed' });

let stores: Stores;
let log: SessionLog;
beforeEach(async () => {
  stores = memoryStores();
  await stores.write(begun().rows.map((envelope) => ({ into: 'events', envelope })));
  log = new SessionLog(SESSION, stores);
  await log.catchUp();
});

const logged = async () => (await stores.read(SESSION)).slice(2).map(({ id }) => id);

describe('appends that are asked for at once', () => {
  it('W4: a higher epoch fences those of a lower one that come after it', async () => {
    const [higher, lower] = await Promise.allSettled([
      log.append(by(2), [resuming(2)]),
      log.append(by(1), [resuming(1), running('late')]),
    ]);
    expect(higher.status).toBe('fulfilled');
    expect(lower).toMatchObject({ status: 'rejected', reason: expect.any(FencedError) });
    expect(await logged()).toEqual(['resuming/2']);
  });

  it('W4: those of a lower epoch that come before it are logged', async () => {
    await Promise.all([log.append(by(0), [running('early')]), log.append(by(1), [resuming(1), running('next')])]);
    expect(await logged()).toEqual(['early', 'resuming/1', 'next']);
  });

  it('L6: what is logged already is looked up again where the store cannot be reached', async () => {
    await log.append(by(0), [running('early')]);
    let isAway = true;
    const read: Stores['read'] = async (session, from, limit) => {
      if (limit === undefined || !isAway) return stores.read(session, from, limit);
      isAway = false;
      throw new StoreUnreachableError('memory');
    };
    const other = new SessionLog(SESSION, { ...stores, read });
    await other.catchUp();
    const [early, late] = await other.append(by(0), [running('early'), running('late')]);
    expect([isAway, early?.id, late?.id]).toEqual([false, 'early', 'late']);
    expect(await logged()).toEqual(['early', 'late']);
  });

  it('F3: nothing comes after the end of the root', async () => {
    const [end, other] = await Promise.allSettled([
      log.append(by(0), [completed]),
      log.append(by(0), [running('other')]),
    ]);
    expect(end.status).toBe('fulfilled');
    expect(other).toMatchObject({ status: 'rejected', reason: expect.any(SessionTerminalError) });
    expect(fold(await stores.read(SESSION)).terminal).toBe(true);
  });
});
