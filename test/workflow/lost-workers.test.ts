import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import Long from 'long';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { Envelope } from '../../src/index.ts';
import { HEARTBEAT_MS } from '../support/deeds.ts';
import { beatsOf } from '../support/history.ts';
import { calls, goalOf } from '../support/script.ts';
import { twoWorkers } from '../support/two-workers.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;

/** From the loss of a worker to the next step, beyond the threshold: promised, and what a busy machine may add. */
const PROMISED_MS = 1_500;
const BUSY_MS = 2_500;

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

const generated = async (session: SessionHandle) => ofType(await session.events(), 'GenerationCompleted').length;
const step = (id: string) => calls(['idem', { id }]);

describe.each(modes)('a worker that is lost, of an agent driven by %s', (mode) => {
  it('W1, W2, W3: in the middle of a generation: the agent goes on elsewhere, under its own name, in time', async () => {
    const { deeds, survivor, process } = await twoWorkers();
    const lost = await process();
    for (const id of ['a', 'b', 'c']) deeds.open(id);
    const session = await survivor.start(`slow-${mode}`, goalOf(step('a'), step('b'), step('c')));
    await until('it generates for the third time', async () => {
      const [beat] = await beatsOf(survivor.client, session.id);
      return beat?.node === 3 && beat.call === 'generation';
    });
    const killedAt = Date.now();
    lost.kill('SIGKILL');
    survivor.run();
    expect(await session.output()).toBe('done');

    const events = await session.events();
    const agent = `${session.id}/root-1`;
    expect(new Set(events.map((event) => event.agent))).toEqual(new Set([agent]));
    const [resuming] = ofType(events, 'AgentResuming');
    const [resumed] = ofType(events, 'AgentResumed');
    expect(resuming?.data).toEqual({ epoch: 1, snapshot: 2 });
    expect(resumed?.data).toEqual({ epoch: 1 });
    expect(resumed?.seq).toBeGreaterThan(resuming?.seq ?? 0);
    const after = events.slice(resuming?.seq);
    expect(after.every(({ writer }) => writer?.epoch === 1)).toBe(true);
    expect(after.map(({ type }) => type).indexOf('AgentResumed')).toBeLessThan(8);

    const took = Date.parse(resuming?.at ?? '') - killedAt;
    expect(took).toBeLessThan(HEARTBEAT_MS + PROMISED_MS + BUSY_MS);
    expect(await generated(session)).toBe(4);
    for (const id of ['a', 'b', 'c']) expect(deeds.begun(id)).toHaveLength(1);
    const claims = await survivor.stores.claims(session.id, agent);
    const [first, last] = [claims[0]?.worker, claims.at(-1)?.worker];
    expect(first).not.toBe(last);
    const registered = await survivor.stores.workers();
    expect(registered.find(({ worker }) => worker === first)?.struck).toBe(true);
    expect(registered.find(({ worker }) => worker === last)?.struck).toBe(false);
    expect((await session.view()).agents[agent]).toMatchObject({ epoch: 1, resuming: false });
    expect((await session.verify()).problems).toEqual([]);
  });

  it('E4: an answer to retry covers one try: lost again, it is asked about again', async () => {
    const { deeds, survivor, process } = await twoWorkers();
    let lost = await process();
    const session = await survivor.start(`goals-${mode}`, goalOf(calls(['ask', { id: 'a' }])));
    await until('the effect runs', () => deeds.begun('a').length === 1);
    lost.kill('SIGKILL');
    lost = await process();
    const [first] = await until('it is in doubt', async () => {
      const pauses = await session.pauses();
      return pauses.length > 0 && pauses;
    });
    await session.answer(first?.pause ?? '', { decision: 'retry' });
    await until('the effect runs again', () => deeds.begun('a').length === 2);
    lost.kill('SIGKILL');
    deeds.open('a');
    survivor.run();
    const second = await until('it is in doubt again', async () => (await session.pauses())[0]);
    expect(second.pause).not.toBe(first?.pause);
    await sleep(500);
    expect(deeds.begun('a')).toHaveLength(2);
    await session.answer(second.pause, { decision: 'happened', result: 'yes' });
    expect(await session.output()).toBe('done');
    expect(ofType(await session.events(), 'AgentResuming').map(({ data }) => data.epoch)).toEqual([1, 2]);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('W4, E4: a zombie is fenced: what it brings late is evidence, and none of it is served', async () => {
    const { deeds, survivor, process } = await twoWorkers();
    const zombie = await process();
    const goal = goalOf(calls(['tell', { id: 'a' }]), calls(['tell', { id: 'b' }]));
    const session = await survivor.start(`goals-${mode}`, goal);
    await until('the effect runs', () => deeds.begun('a').length === 1);
    zombie.kill('SIGSTOP');
    survivor.run();
    await until('the survivor has gone on', () => deeds.begun('b').length === 1);
    const [claim] = await survivor.stores.claims(session.id, `${session.id}/root-1`);
    const isStruck = async () =>
      (await survivor.stores.workers()).find(({ worker }) => worker === claim?.worker)?.struck;
    expect(await isStruck()).toBe(true);
    deeds.open('a');
    zombie.kill('SIGCONT');
    const evidence = await until('its late result is kept', async () => {
      const rows = await survivor.stores.evidence(session.id);
      return rows.find(({ outcome }) => outcome === 'ok');
    });
    expect(evidence).toMatchObject({ call: '1.0', tool: 'tell', epoch: 0, outcome: 'ok', json: '"a was done"' });
    await until('it beats again, and may be given work', async () => (await isStruck()) === false);
    deeds.open('b');
    expect(await session.output()).toBe('done');
    const events = await session.events();
    const outcomes = ofType(events, 'ToolCallCompleted').map(({ data }) => [data.call, data.outcome]);
    expect(outcomes).toEqual([
      ['1.0', 'unknown'],
      ['2.0', 'ok'],
    ]);
    const fence = ofType(events, 'AgentResuming')[0]?.seq ?? 0;
    expect(events.slice(fence).every(({ writer }) => (writer?.epoch ?? 0) > 0)).toBe(true);
    expect(deeds.begun('a')).toHaveLength(1);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('W5: that shuts down in order lets its agent go: no fence, no doubt, and it goes on elsewhere', async () => {
    const { deeds, survivor, process } = await twoWorkers();
    const leaving = await process();
    const ids = ['a', 'b', 'c', 'd'];
    const session = await survivor.start(`goals-${mode}`, goalOf(...ids.map((id) => calls(['ask', { id }]))));
    deeds.open('a');
    await until('the second effect runs', () => deeds.begun('b').length === 1);
    leaving.kill('SIGTERM');
    await sleep(300);
    for (const id of ids) deeds.open(id);
    survivor.run();
    expect(await leaving.gone).toBe(0);
    expect(await session.output()).toBe('done');
    const events = await session.events();
    expect(ofType(events, 'AgentResuming')).toEqual([]);
    expect(ofType(events, 'PauseRaised')).toEqual([]);
    const snapshots = ofType(events, 'AgentSnapshot').map(({ data }) => [data.node, data.source]);
    if (mode === 'loop') expect(snapshots).toContainEqual([2, 'release']);
    for (const id of ids) expect(deeds.begun(id)).toHaveLength(1);
    expect(new Set(ids.map((id) => deeds.begun(id)[0]?.pid)).size).toBe(2);
    expect((await session.verify()).problems).toEqual([]);
  });
});

it('W4: of two runs of the same workflow one drives, and the second raises the epoch', async () => {
  const { deeds, survivor } = await twoWorkers();
  survivor.run();
  const session = await survivor.start('goals-loop', goalOf(calls(['ask', { id: 'a' }]), calls(['idem', { id: 'b' }])));
  await until('the effect runs', () => deeds.begun('a').length === 1);
  const { connection, options } = survivor.client;
  await connection.workflowService.resetWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId: session.id },
    workflowTaskFinishEventId: Long.fromNumber(3),
    requestId: session.id,
    reason: 'a test',
  });
  const pause = await until('the new run finds the effect in doubt', async () => (await session.pauses())[0]);
  deeds.open('a');
  deeds.open('b');
  await session.answer(pause.pause, { decision: 'happened', result: 1 });
  expect(await session.output()).toBe('done');
  const events = await session.events();
  expect(ofType(events, 'AgentResuming').map(({ data }) => data.epoch)).toEqual([1]);
  expect(deeds.begun('a')).toHaveLength(1);
  expect((await session.verify()).problems).toEqual([]);
});
