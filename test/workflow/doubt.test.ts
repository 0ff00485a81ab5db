import { beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { Envelope } from '../../src/index.ts';
import { GRACE_MS, TIMEOUT_MS } from '../support/deeds.ts';
import { calls, goalOf } from '../support/script.ts';
import { type TwoWorkers, twoWorkers } from '../support/two-workers.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
/** How each session's effect is settled, and with which tool. */
const settled = {
  happened: 'ask',
  retry: 'ask',
  failed: 'ask',
  found: 'found',
  absent: 'absent',
  late: 'late',
  unsure: 'unsure',
  idem: 'idem',
  tell: 'tell',
  fail: 'fail',
} as const;
type Case = keyof typeof settled;

let workers: TwoWorkers;
const sessions = new Map<string, SessionHandle>();

/** All sessions are in the middle of their effect when their worker is killed, and only then may the effects end. */
beforeAll(async () => {
  workers = await twoWorkers();
  const { deeds, survivor } = workers;
  const lost = await workers.process();
  const ids = modes.flatMap((mode) =>
    Object.entries(settled).map(([id, tool]) => ({ id: `${id}-${mode}`, tool, mode })),
  );
  await Promise.all(
    ids.map(async ({ id, tool, mode }) => {
      sessions.set(id, await survivor.start(`goals-${mode}`, goalOf(calls([tool, { id }]))));
    }),
  );
  await until('all effects have begun', () => ids.every(({ id }) => deeds.begun(id).length === 1), 30_000);
  lost.kill('SIGKILL');
  survivor.run();
  await lost.gone;
  for (const { id } of ids) deeds.open(id);
});

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

describe.each(modes)('an effect in doubt of an agent driven by %s', (mode) => {
  const sessionOf = (name: Case) => sessions.get(`${name}-${mode}`) as SessionHandle;
  const traces = (name: Case) => workers.deeds.traces(`${name}-${mode}`);
  const begun = (name: Case) => workers.deeds.begun(`${name}-${mode}`);

  const pauseOf = (name: Case) =>
    until('it is in doubt', async () => {
      const [pause] = await sessionOf(name).pauses();
      return pause;
    });

  /** The end of a session whose effect was settled, and what its agent was told. */
  async function end(name: Case) {
    const session = sessionOf(name);
    expect(await session.output()).toBe('done');
    const events = await session.events();
    const [completed] = ofType(events, 'ToolCallCompleted');
    const [ref] = completed ? [completed.data.ref] : [];
    const [told = 'null'] = ref ? await workers.survivor.stores.load(session.id, 'messages', [ref]) : [];
    expect((await session.verify()).problems).toEqual([]);
    expect(ofType(events, 'AgentResuming')).toHaveLength(1);
    expect(ofType(events, 'AgentResumed')).toHaveLength(1);
    expect(new Set(events.flatMap(({ agent }) => agent ?? []))).toEqual(new Set([`${session.id}/root-1`]));
    const fencedAt = Date.parse(ofType(events, 'AgentResuming')[0]?.at ?? '');
    return { events, outcome: completed?.data.outcome, told: JSON.parse(told), fencedAt };
  }

  it('E4: that reconcile finds is not run again', async () => {
    const { outcome, told, events } = await end('found');
    expect([outcome, told]).toEqual(['ok', 'it was found']);
    expect(begun('found')).toHaveLength(1);
    expect(ofType(events, 'PauseRaised')).toEqual([]);
  });

  it('E4, E2: that reconcile denies runs again with its key, once time-out and grace have passed since the fence', async () => {
    const { outcome, told, fencedAt, events } = await end('absent');
    expect([outcome, told]).toEqual(['ok', `absent-${mode} was done`]);
    expect(traces('absent').map(({ of }) => of)).toEqual(['begin', 'begin', 'end']);
    const [first, second] = begun('absent');
    expect(second?.key).toBe(first?.key);
    expect(second?.at).toBeGreaterThanOrEqual(fencedAt + TIMEOUT_MS + GRACE_MS);
    expect(ofType(events, 'ToolCallStarted').map(({ data }) => data.key)).toEqual([first?.key, first?.key]);
  });

  it('E4: that reconcile finds at last, when its time-out has passed, is not run again', async () => {
    const { outcome, told, events } = await end('late');
    expect([outcome, told]).toEqual(['ok', 'it came late']);
    expect(begun('late')).toHaveLength(1);
    expect(ofType(events, 'PauseRaised')).toEqual([]);
  });

  it('E4: of a tool that honours keys runs again with its key, and at once', async () => {
    const { outcome, fencedAt } = await end('idem');
    expect(outcome).toBe('ok');
    const [first, second] = begun('idem');
    expect(second?.key).toBe(first?.key);
    expect(second?.at).toBeLessThan(fencedAt + TIMEOUT_MS);
  });

  it('E4: is told as unknown where the tool says so', async () => {
    const { outcome, told } = await end('tell');
    expect([outcome, told]).toEqual(['unknown', expect.stringContaining('may or may not have happened')]);
    expect(begun('tell')).toHaveLength(1);
  });

  it('E4: fails where the tool says so', async () => {
    const { outcome, told } = await end('fail');
    expect([outcome, told]).toEqual(['error', expect.stringContaining('may or may not have happened')]);
    expect(begun('fail')).toHaveLength(1);
  });

  it('E4: is asked about, and a person says that it happened', async () => {
    const pause = await pauseOf('happened');
    const accepts = ['happened', 'retry', 'fail'];
    const args = { id: `happened-${mode}` };
    expect(pause).toMatchObject({
      kind: 'in-doubt',
      tool: 'ask',
      args,
      accepts,
      why: expect.stringContaining('was lost'),
    });
    const bare = sessionOf('happened').answer(pause.pause, { decision: 'happened' });
    await expect(bare).rejects.toMatchObject({ code: 'INVALID_ANSWER', message: expect.stringContaining('result') });
    await sessionOf('happened').answer(pause.pause, { decision: 'happened', result: { receipt: 7 } });
    const { outcome, told } = await end('happened');
    expect([outcome, told]).toEqual(['ok', { receipt: 7 }]);
    expect(begun('happened')).toHaveLength(1);
  });

  it('E4: is asked about, and a person says to try again, which waits for time-out and grace too', async () => {
    const { pause } = await pauseOf('retry');
    await sessionOf('retry').answer(pause, { decision: 'retry' });
    const { outcome, told, fencedAt } = await end('retry');
    expect([outcome, told]).toEqual(['ok', `retry-${mode} was done`]);
    expect(traces('retry').map(({ of }) => of)).toEqual(['begin', 'begin', 'end']);
    expect(begun('retry')[1]?.at).toBeGreaterThanOrEqual(fencedAt + TIMEOUT_MS + GRACE_MS);
  });

  it('E4: is asked about, and a person says that it failed', async () => {
    const { pause } = await pauseOf('failed');
    await sessionOf('failed').answer(pause, { decision: 'fail', reason: 'the bank says no' });
    const { outcome, told } = await end('failed');
    expect([outcome, told]).toEqual(['error', 'the bank says no']);
    expect(begun('failed')).toHaveLength(1);
  });

  it('E4: is asked about where reconcile cannot tell', async () => {
    const { pause, kind } = await pauseOf('unsure');
    expect(kind).toBe('in-doubt');
    await sessionOf('unsure').answer(pause, { decision: 'happened', result: 1 });
    expect((await end('unsure')).told).toBe(1);
  });
});
