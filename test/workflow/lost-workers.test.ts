import { describe, expect, it } from '@jest/globals';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { Envelope } from '../../src/index.ts';
import type { ScriptStep } from '../../src/testing.ts';
import { GATE, HEARTBEAT_MS } from '../support/deeds.ts';
import { beatsOf } from '../support/history.ts';
import { calls, goalOf } from '../support/script.ts';
import { temporalCli } from '../support/temporal-cli.ts';
import { type TwoWorkers, twoWorkers } from '../support/two-workers.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;

/** From the loss of a worker to the next step, beyond the threshold: promised, and what a busy machine may add. */
const PROMISED_MS = 1_500;
const BUSY_MS = 2_500;

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

/** One session in each mode. Its deeds have the mode before their names. */
interface Driven {
  readonly mode: string;
  readonly session: SessionHandle;
  readonly agent: string;
}

const startBoth = ({ survivor }: TwoWorkers, model: string, steps: (mode: string) => readonly ScriptStep[]) =>
  Promise.all(
    modes.map(async (mode): Promise<Driven> => {
      const session = await survivor.start(`${model}-${mode}`, goalOf(...steps(mode)));
      return { mode, session, agent: `${session.id}/root-1` };
    }),
  );

/** Waits until something is so of the sessions in both modes. */
const untilBoth = (what: string, driven: readonly Driven[], isSo: (one: Driven) => boolean | Promise<boolean>) =>
  until(what, async () => (await Promise.all(driven.map(isSo))).every(Boolean), 30_000);

const pauseOf = async ({ session }: Driven) => (await session.pauses())[0]?.pause;

/** The log of a session that has come to its end, whole. */
async function finished({ session }: Driven): Promise<Envelope[]> {
  expect(await session.output()).toBe('done');
  expect((await session.verify()).problems).toEqual([]);
  return session.events();
}

describe('a worker that is lost', () => {
  it('W1, W2, W3: in the middle of a generation: its agents go on elsewhere under their own names, in time', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const lost = await workers.process();
    const ids = (mode: string) => ['a', 'b', 'c'].map((id) => `${mode}-${id}`);
    for (const id of modes.flatMap(ids)) deeds.open(id);
    const driven = await startBoth(workers, 'gated', (mode) => ids(mode).map((id) => calls(['idem', { id }])));
    await untilBoth('they generate for the third time', driven, async ({ session }) => {
      const [beat] = await beatsOf(survivor.client, session.id);
      return beat?.node === 3 && beat.call === 'generation';
    });
    const killedAt = Date.now();
    lost.kill('SIGKILL');
    survivor.run();
    deeds.open(GATE);
    for (const one of driven) {
      const events = await finished(one);
      expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set([one.agent]));
      const [resuming] = ofType(events, 'AgentResuming');
      expect(resuming?.data).toMatchObject({ epoch: 1, snapshot: 2 });
      expect(Date.parse(resuming?.at ?? '') - killedAt).toBeLessThan(HEARTBEAT_MS + PROMISED_MS + BUSY_MS);
      const after = events.slice(resuming?.seq);
      expect(after.every(({ writer }) => writer?.epoch === 1)).toBe(true);
      const resumed = after.findIndex(({ type }) => type === 'AgentResumed');
      expect(after[resumed]?.data).toEqual({ epoch: 1 });
      expect(resumed).toBeLessThan(8);
      expect(ofType(events, 'GenerationCompleted').map(({ data }) => data.node)).toEqual([1, 2, 3, 4]);
      for (const id of ids(one.mode)) expect(deeds.begun(id)).toHaveLength(1);
      expect((await one.session.view()).agents[one.agent]).toMatchObject({ epoch: 1, resuming: false });
      const claims = await survivor.stores.claims(one.session.id, one.agent);
      const [first, last] = [claims[0]?.worker, claims.at(-1)?.worker];
      const registered = await survivor.stores.workers();
      expect(registered.find(({ worker }) => worker === first)?.struck).toBe(true);
      expect(registered.find(({ worker }) => worker === last)?.struck).toBe(false);
    }
  });

  it('E4: an answer to retry covers one try: lost again, it is asked about again', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    let lost = await workers.process();
    const driven = await startBoth(workers, 'goals', (mode) => [calls(['ask', { id: mode }])]);
    await untilBoth('the effects run', driven, ({ mode }) => deeds.begun(mode).length === 1);
    lost.kill('SIGKILL');
    lost = await workers.process();
    await untilBoth('they are in doubt', driven, async (one) => (await pauseOf(one)) !== undefined);
    const first = await Promise.all(driven.map(pauseOf));
    for (const [i, { session }] of driven.entries()) await session.answer(first[i] ?? '', { decision: 'retry' });
    await untilBoth('the effects run again', driven, ({ mode }) => deeds.begun(mode).length === 2);
    lost.kill('SIGKILL');
    for (const { mode } of driven) deeds.open(mode);
    survivor.run();
    await untilBoth('they are in doubt again', driven, async (one) => (await pauseOf(one)) !== undefined);
    for (const [i, one] of driven.entries()) {
      const second = (await pauseOf(one)) ?? '';
      expect(second).not.toBe(first[i]);
      await one.session.answer(second, { decision: 'happened', result: 'yes' });
      const events = await finished(one);
      expect(deeds.begun(one.mode)).toHaveLength(2);
      expect(ofType(events, 'AgentResuming').map(({ data }) => data.epoch)).toEqual([1, 2]);
    }
  });

  it('W4, E4: a zombie is fenced: what it brings late is evidence, and none of it is served', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const zombie = await workers.process();
    const driven = await startBoth(workers, 'goals', (mode) => [calls(['ask', { id: mode }])]);
    await untilBoth('the effects run', driven, ({ mode }) => deeds.begun(mode).length === 1);
    zombie.kill('SIGSTOP');
    survivor.run();
    await untilBoth('the survivor asks about them', driven, async (one) => (await pauseOf(one)) !== undefined);
    const [{ session, agent }] = driven as [Driven];
    const [claim] = await survivor.stores.claims(session.id, agent);
    const isStruck = async () =>
      (await survivor.stores.workers()).find(({ worker }) => worker === claim?.worker)?.struck;
    expect(await isStruck()).toBe(true);
    for (const { mode } of driven) deeds.open(mode);
    zombie.kill('SIGCONT');
    const late = ({ session }: Driven) =>
      survivor.stores.evidence(session.id).then((rows) => rows.find(({ outcome }) => outcome === 'ok'));
    await untilBoth('its late results are kept', driven, async (one) => (await late(one)) !== undefined);
    await until('it beats again, and may be given work', async () => (await isStruck()) === false);
    for (const one of driven) {
      const json = JSON.stringify(`${one.mode} was done`);
      expect(await late(one)).toMatchObject({ call: '1.0', tool: 'ask', epoch: 0, outcome: 'ok', json });
      expect(ofType(await one.session.events(), 'ToolCallCompleted')).toEqual([]);
      await one.session.answer((await pauseOf(one)) ?? '', { decision: 'fail', reason: 'it came too late' });
      const events = await finished(one);
      expect(ofType(events, 'ToolCallCompleted').map(({ data }) => data.outcome)).toEqual(['error']);
      const fence = ofType(events, 'AgentResuming')[0]?.seq ?? 0;
      const agents = events.slice(fence).filter(({ type }) => type !== 'PauseAnswered');
      expect(agents.every(({ writer }) => (writer?.epoch ?? 0) > 0)).toBe(true);
      expect(deeds.begun(one.mode)).toHaveLength(1);
    }
  });
});

it('W4: of two runs of the same workflow one drives, and the second raises the epoch', async () => {
  const { deeds, survivor } = await twoWorkers();
  survivor.run();
  const session = await survivor.start('goals-loop', goalOf(calls(['ask', { id: 'a' }]), calls(['idem', { id: 'b' }])));
  await until('the effect runs', () => deeds.begun('a').length === 1);
  const reset = ['--workflow-id', session.id, '--event-id', '3', '--reason', 'a test'];
  await temporalCli('workflow', 'reset', ...reset);
  const pause = await until('the new run finds the effect in doubt', async () => (await session.pauses())[0]);
  deeds.open('a');
  deeds.open('b');
  await session.answer(pause.pause, { decision: 'happened', result: 1 });
  const events = await finished({ mode: 'loop', session, agent: '' });
  expect(ofType(events, 'AgentResuming').map(({ data }) => data.epoch)).toEqual([1]);
  expect(deeds.begun('a')).toHaveLength(1);
});
