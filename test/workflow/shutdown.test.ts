import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { Envelope } from '../../src/index.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import type { ScriptStep } from '../../src/testing.ts';
import { configOf, Deeds, GATE, SHUTDOWN_GRACE_MS } from '../support/deeds.ts';
import { beatsOf } from '../support/history.ts';
import { startPool } from '../support/pool.ts';
import { calls, goalOf } from '../support/script.ts';
import { type TwoWorkers, twoWorkers } from '../support/two-workers.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const folder = mkdtempSync(join(tmpdir(), 'apomesh-shutdown-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What a worker process takes to end once nothing holds it, on a busy machine. */
const ENDING_MS = 4_000;

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

/** One session in each mode. Its deeds have the mode before their names. */
interface Driven {
  readonly mode: string;
  readonly session: SessionHandle;
}

const startBoth = ({ survivor }: TwoWorkers, model: string, steps: (mode: string) => readonly ScriptStep[]) =>
  Promise.all(
    modes.map(async (mode): Promise<Driven> => {
      return { mode, session: await survivor.start(`${model}-${mode}`, goalOf(...steps(mode))) };
    }),
  );

/** Waits until something is so of the sessions in both modes. */
const untilBoth = (what: string, driven: readonly Driven[], isSo: (one: Driven) => boolean | Promise<boolean>) =>
  until(what, async () => (await Promise.all(driven.map(isSo))).every(Boolean), 30_000);

const untilBegun = ({ deeds }: TwoWorkers, driven: readonly Driven[], id: string) =>
  untilBoth(`${id} runs`, driven, ({ mode }) => deeds.begun(`${mode}-${id}`).length === 1);

/** Ends a worker in order. Gives the milliseconds that took. */
async function leave(leaving: { kill(signal: 'SIGTERM'): void; gone: Promise<unknown> }): Promise<number> {
  const from = performance.now();
  leaving.kill('SIGTERM');
  expect(await leaving.gone).toBe(0);
  return performance.now() - from;
}

/** The log of a session that came to its end without a fence, a doubt or an effect that ran twice. */
async function undisturbed({ session }: Driven): Promise<Envelope[]> {
  expect(await session.output()).toBe('done');
  const events = await session.events();
  expect(ofType(events, 'AgentResuming')).toEqual([]);
  expect(ofType(events, 'PauseRaised').filter(({ data }) => data.kind === 'in-doubt')).toEqual([]);
  const { problems, effects } = await session.verify();
  expect({ problems, effects }).toMatchObject({ problems: [], effects: { open: 0, duplicates: 0 } });
  const nodes = ofType(events, 'GenerationCompleted').map(({ data }) => data.node);
  expect(nodes).toEqual(nodes.map((_, i) => i + 1));
  return events;
}

const releases = (events: readonly Envelope[]) =>
  ofType(events, 'AgentSnapshot').flatMap(({ data }) => (data.source === 'release' ? [data.node] : []));

/** What became of the calls, as the model was shown it. */
const outcomes = (events: readonly Envelope[]) => ofType(events, 'ToolCallCompleted').map(({ data }) => data.outcome);

describe('W5: a worker that shuts down in order', () => {
  it('lets its agents go when the effects in progress have ended, and they go on elsewhere', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const leaving = await workers.process();
    const ids = (mode: string) => ['a', 'b', 'c', 'd'].map((id) => `${mode}-${id}`);
    const driven = await startBoth(workers, 'goals', (mode) => ids(mode).map((id) => calls(['ask', { id }])));
    for (const { mode } of driven) deeds.open(`${mode}-a`);
    await untilBegun(workers, driven, 'b');
    leaving.kill('SIGTERM');
    await sleep(300);
    for (const id of modes.flatMap(ids)) deeds.open(id);
    survivor.run();
    expect(await leaving.gone).toBe(0);
    for (const one of driven) {
      const events = await undisturbed(one);
      expect(releases(events)).toEqual(one.mode === 'loop' ? [2] : []);
      for (const id of ids(one.mode)) expect(deeds.begun(id)).toHaveLength(1);
      expect(new Set(ids(one.mode).map((id) => deeds.begun(id)[0]?.pid)).size).toBe(2);
    }
  });

  it('waits for an effect beyond the grace, however long it takes, and records what it came to', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const leaving = await workers.process();
    const driven = await startBoth(workers, 'goals', (mode) => [calls(['ask', { id: `${mode}-a` }])]);
    await untilBegun(workers, driven, 'a');
    leaving.kill('SIGTERM');
    survivor.run();
    await sleep(2 * SHUTDOWN_GRACE_MS);
    expect(leaving.isRunning).toBe(true);
    for (const { mode } of driven) deeds.open(`${mode}-a`);
    expect(await leaving.gone).toBe(0);
    for (const one of driven) {
      const events = await undisturbed(one);
      expect(outcomes(events)).toEqual(['ok']);
      expect(deeds.traces(`${one.mode}-a`).map(({ of, pid }) => [of, pid])).toEqual([
        ['begin', leaving.pid],
        ['end', leaving.pid],
      ]);
    }
  });

  it('tells the effects when the grace is over, and records what they say; reads and generations it leaves to the next', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const leaving = await workers.process();
    const driven = await startBoth(workers, 'goals', (mode) => [
      calls(['heed', { id: `${mode}-a` }], ['look', { id: `${mode}-b` }]),
    ]);
    const gated = await startBoth(workers, 'gated', (mode) => [
      calls(['idem', { id: `${mode}-c` }]),
      calls(['idem', { id: `${mode}-d` }]),
    ]);
    for (const id of modes.flatMap((mode) => [`${mode}-c`, `${mode}-d`])) deeds.open(id);
    await untilBegun(workers, driven, 'a');
    await untilBegun(workers, driven, 'b');
    await untilBoth('they generate for the third time', gated, async ({ session }) => {
      const [beat] = await beatsOf(survivor.client, session.id);
      return beat?.node === 3 && beat.call === 'generation';
    });
    const ms = await leave(leaving);
    expect(ms).toBeGreaterThan(SHUTDOWN_GRACE_MS);
    expect(ms).toBeLessThan(SHUTDOWN_GRACE_MS + ENDING_MS);
    for (const { mode } of driven) deeds.open(`${mode}-b`);
    deeds.open(GATE);
    survivor.run();
    for (const one of driven) {
      const events = await undisturbed(one);
      const [heeded] = ofType(events, 'ToolCallCompleted');
      expect(heeded?.data).toMatchObject({ tool: 'heed', outcome: 'ok' });
      const [text] = await survivor.stores.load(one.session.id, 'messages', [heeded!.data.ref]);
      expect(text).toContain('was told of WorkerShutdownError');
      expect(outcomes(events)).toEqual(['ok', 'ok']);
      expect(deeds.begun(`${one.mode}-a`)).toHaveLength(1);
      expect(deeds.begun(`${one.mode}-b`).map(({ pid }) => pid)).toEqual([leaving.pid, process.pid]);
      expect(releases(events)).toEqual(one.mode === 'loop' ? [1] : []);
    }
    for (const one of gated) expect(releases(await undisturbed(one))).toEqual([2]);
  });

  it('logs a generation that ends within the grace, and leaves what it asks for to the next', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const leaving = await workers.process({ shutdownGrace: '1 minute' });
    const ids = (mode: string) => ['a', 'b', 'c'].map((id) => `${mode}-${id}`);
    for (const id of modes.flatMap(ids)) deeds.open(id);
    const driven = await startBoth(workers, 'gated', (mode) => ids(mode).map((id) => calls(['ask', { id }])));
    await untilBoth('they generate for the third time', driven, async ({ session }) => {
      const [beat] = await beatsOf(survivor.client, session.id);
      return beat?.node === 3 && beat.call === 'generation';
    });
    leaving.kill('SIGTERM');
    await sleep(300);
    deeds.open(GATE);
    expect(await leaving.gone).toBe(0);
    for (const { session, mode } of driven) {
      const events = await session.events();
      expect(ofType(events, 'GenerationCompleted')).toHaveLength(3);
      expect(ofType(events, 'ToolCallStarted')).toHaveLength(2);
      expect(releases(events)).toEqual(mode === 'loop' ? [3] : []);
    }
    survivor.run();
    for (const one of driven) {
      await undisturbed(one);
      expect(deeds.begun(`${one.mode}-c`).map(({ pid }) => pid)).toEqual([process.pid]);
    }
  });

  it('holds nothing for agents that wait for a person, or for the time after which a lost effect may run again', async () => {
    const workers = await twoWorkers();
    const { deeds, survivor } = workers;
    const lost = await workers.process();
    const asked = await startBoth(workers, 'goals', (mode) => [calls(['ask', { id: `${mode}-a` }])]);
    const denied = await startBoth(workers, 'goals', (mode) => [calls(['absent', { id: `${mode}-b` }])]);
    await untilBegun(workers, asked, 'a');
    await untilBegun(workers, denied, 'b');
    lost.kill('SIGKILL');
    const leaving = await workers.process();
    const openPause = async ({ session }: Driven) => (await session.pauses())[0]?.pause;
    await untilBoth('they wait for a person', asked, async (one) => (await openPause(one)) !== undefined);
    await untilBoth('they wait for the time', denied, async ({ session }) =>
      (await session.events()).some(({ type }) => type === 'AgentResuming'),
    );
    expect(await leave(leaving)).toBeLessThan(ENDING_MS);
    survivor.run();
    for (const mode of modes) for (const id of ['a', 'b']) deeds.open(`${mode}-${id}`);
    for (const one of asked)
      await one.session.answer((await openPause(one)) ?? '', { decision: 'happened', result: 1 });
    for (const one of [...asked, ...denied]) {
      expect(await one.session.output()).toBe('done');
      expect(ofType(await one.session.events(), 'AgentResuming')).toHaveLength(1);
    }
    for (const { mode } of denied) expect(deeds.begun(`${mode}-b`)).toHaveLength(2);
  });

  it.each([0, '1 hour'] as const)('in a process of a user with a shutdownGraceTime of %p: just so', async (grace) => {
    const deeds = new Deeds(join(folder, `${grace}`));
    const config = configOf(deeds.folder);
    const worker = { shutdownGraceTime: grace, shutdownForceTime: '1 hour' } as const;
    const leaving = await startPool(config, { stores: memoryStores(), worker });
    const started = ['ask', 'look'].map((tool) => leaving.start('goals-loop', goalOf(calls([tool, { id: tool }]))));
    const sessions = await Promise.all(started);
    await until('both run', () => ['ask', 'look'].every((id) => deeds.begun(id).length === 1));
    const stopping = leaving.stop();
    const [effect, read] = sessions as [SessionHandle, SessionHandle];
    await until('the read is cut off', async () => releases(await read.events()).length === 1);
    expect(outcomes(await effect.events())).toEqual([]);
    deeds.open('ask');
    deeds.open('look');
    await stopping;
    expect(outcomes(await effect.events())).toEqual(['ok']);
    const { stores, taskQueue } = leaving;
    await startPool(config, { stores, taskQueue });
    for (const session of sessions) await undisturbed({ mode: 'loop', session });
    expect([deeds.begun('ask').length, deeds.begun('look').length]).toEqual([1, 2]);
  });

  it('hears of a cancellation while it shuts down', async () => {
    const workers = await twoWorkers();
    const { survivor } = workers;
    const leaving = await workers.process({ shutdownGrace: '1 minute' });
    const [one] = await startBoth(workers, 'goals', (mode) => [calls(['heed', { id: `${mode}-a` }])]);
    await untilBegun(workers, [one!], 'a');
    leaving.kill('SIGTERM');
    survivor.run();
    await one!.session.cancel('enough');
    expect(await leaving.gone).toBe(0);
    await expect(one!.session.output()).rejects.toMatchObject({ fields: { phase: 'cancelled' } });
    const [heeded] = ofType(await one!.session.events(), 'ToolCallCompleted');
    const [text] = await survivor.stores.load(one!.session.id, 'messages', [heeded!.data.ref]);
    expect(text).toContain('was told of AbortError');
  });
});
