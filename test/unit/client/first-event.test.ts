import { describe, expect, it } from '@jest/globals';
import { assertFree, type FirstEvent, logFirstEvent } from '../../../src/client/first-event.ts';
import { SessionLiveError, SessionTerminalError, StoreUnknownError } from '../../../src/contract/errors.ts';
import type { Row, Stores } from '../../../src/ports/store.ts';
import { bodyOf } from '../../../src/session/digest.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, ROOT, SESSION } from '../../support/logs.ts';
import { writeLog } from '../../support/written.ts';

const [first] = begun().rows as [FirstEvent];
const later: FirstEvent = { ...first, at: '2026-12-01T10:00:00.000Z' };
const otherGoal: FirstEvent = { ...first, data: { ...first.data, goal: 'another' } };
const body: Row = { into: 'bodies', session: SESSION, ...bodyOf('Triage.') };

describe('logFirstEvent', () => {
  it('L4: puts the event and what it needs on the log', async () => {
    const stores = memoryStores();
    expect(await logFirstEvent(stores, [body], first)).toEqual(first);
    expect(await stores.read(SESSION)).toEqual([first]);
    expect(await stores.load(SESSION, 'bodies', [bodyOf('Triage.').ref])).toEqual(['"Triage."']);
  });

  it('takes over an orphan: the first event of the same start, and nothing after it', async () => {
    const stores = memoryStores();
    await writeLog(stores, [first]);
    await expect(assertFree(stores, later)).resolves.toBeUndefined();
    expect(await logFirstEvent(stores, [body], later)).toEqual(first);
  });

  it.each([
    ['another goal', [otherGoal]],
    ['a life of its own', begun().rows],
  ])('R5: leaves a session with %s as it is', async (_what, rows) => {
    const stores = memoryStores();
    await writeLog(stores, rows);
    await expect(assertFree(stores, later)).rejects.toThrow(SessionLiveError);
    await expect(logFirstEvent(stores, [], later)).rejects.toThrow(SessionLiveError);
    expect(await stores.read(SESSION)).toEqual(rows);
  });

  it('R6: says that a session is over', async () => {
    const stores = memoryStores();
    const { rows } = begun().add('AgentLifecycle', ROOT, { phase: 'exhausted', reason: 'maxSteps' });
    await writeLog(stores, rows);
    await expect(logFirstEvent(stores, [], later)).rejects.toThrow(SessionTerminalError);
    await expect(assertFree(stores, later)).rejects.toMatchObject({ fields: { phase: 'exhausted' } });
  });

  it.each([
    ['everything', [body, { into: 'events', envelope: first } as const]],
    ['a part', [body]],
    ['nothing', []],
  ])('L6: settles an unknown result that left %s', async (_what, left) => {
    const stores = memoryStores();
    let writes = 0;
    const write: Stores['write'] = async (rows) => {
      writes += 1;
      if (writes > 1) return stores.write(rows);
      await stores.write(left);
      throw new StoreUnknownError('dropped');
    };
    expect(await logFirstEvent({ ...stores, write }, [body], first)).toEqual(first);
    expect(await stores.read(SESSION)).toEqual([first]);
  });
});
