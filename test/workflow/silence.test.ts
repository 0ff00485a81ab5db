import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool, type Reconciled, type ToolOptions } from '../../src/index.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const TIMEOUT_MS = 300;
const goals = goalModel();

/** When each call ran, by session. */
const ran = new Map<string, number[]>();

/** A tool that is silent the first time, and quick from then on. */
const silent = (name: string, options: Omit<ToolOptions, 'approval'>, reconcile?: () => Promise<Reconciled>) =>
  defineTool({
    ...options,
    name,
    description: 'Is silent at first.',
    input: z.object({}),
    timeout: TIMEOUT_MS,
    ...(reconcile && { reconcile }),
    run: async (_, { session }) => {
      ran.set(session, [...(ran.get(session) ?? []), Date.now()]);
      if (ran.get(session)?.length === 1) await sleep(3_600_000, undefined, { ref: false });
      return 'quick';
    },
  });

/** Keys of what `late` has done: it does not heed that it is told to stop. */
const done = new Set<string>();

const tools = [
  defineTool({
    name: 'late',
    description: 'Is late.',
    input: z.object({}),
    timeout: TIMEOUT_MS,
    run: async (_, { key }) => {
      await sleep(TIMEOUT_MS + 100);
      done.add(key);
    },
    reconcile: async (_, { key }) => (done.has(key) ? { happened: true, result: 'late' } : { happened: false }),
  }),
  defineTool({
    name: 'tardy',
    description: 'Ends after it was given up.',
    input: z.object({}),
    timeout: TIMEOUT_MS,
    run: () => sleep(3 * TIMEOUT_MS, { receipt: 7 }),
  }),
  silent('ask', {}),
  silent('tell', { onDoubt: 'tell' }),
  silent('fail', { onDoubt: 'fail' }),
  silent('found', {}, async () => ({ happened: true, result: 'found' })),
  silent('absent', {}, async () => ({ happened: false })),
  silent('mute', { onDoubt: 'tell' }, () => sleep(3_600_000, 'unknown', { ref: false })),
  silent('broken', { onDoubt: 'tell' }, () => Promise.reject(new Error('no line'))),
  silent('again', { idempotent: true, retry: { maximumAttempts: 2, initialInterval: 10 } }),
  defineTool({
    name: 'slow',
    description: 'Slow.',
    input: z.object({}),
    timeout: '9s',
    run: () => sleep(2_500, 'slept'),
  }),
];

let pool: Pool;
beforeAll(async () => {
  const agents = modes.map((dispatch) =>
    defineAgent({
      name: `goals-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: tools.map(({ name }) => name),
      dispatch,
    }),
  );
  pool = await startPool({ models: { goals: goals.model }, tools, agents, limits: { doubtGrace: 200 } });
});

const inDoubt = (session: SessionHandle) => until('it is in doubt', async () => (await session.pauses())[0]);

describe.each(modes)('an effect that is silent, of an agent driven by %s', (mode) => {
  const start = (...tools: readonly string[]) => {
    const goal = goalOf(calls(...tools.map((tool) => [tool] as const)));
    return pool.start(`goals-${mode}`, goal).then((session) => ({ session, goal }));
  };
  const told = (goal: string) => JSON.parse(goals.prompts(goal)[1] ?? '[]').at(-1).content[0].output;

  it.each([
    ['mute', /timed out after 300 ms: it may or may not have happened; look/],
    ['broken', /timed out after 300 ms: it may or may not have happened; look/],
    ['tell', /timed out after 300 ms: it may or may not have happened; look/],
    ['fail', /timed out after 300 ms: it may or may not have happened$/],
    ['absent', /timed out after 300 ms$/],
  ])('E4: %s', async (tool, text) => {
    const { session, goal } = await start(tool);
    await session.output();
    expect(told(goal)).toEqual({ type: 'error-text', value: expect.stringMatching(text) });
    expect(ran.get(session.id)).toHaveLength(1);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('E4: found by reconcile is not run again', async () => {
    const { session, goal } = await start('found');
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'found' });
    expect(ran.get(session.id)).toHaveLength(1);
  });

  it('E4: that is done soon after its time-out has not failed', async () => {
    const { session, goal } = await start('late');
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'late' });
  });

  it('E4: of a tool that honours keys is tried again as its policy says', async () => {
    const { session, goal } = await start('again');
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'quick' });
    expect((await session.events()).filter(({ type }) => type === 'ToolCallStarted')).toHaveLength(1);
  });

  it('E4: is asked about, and what a person says that it gave is not run again', async () => {
    const { session, goal } = await start('ask');
    const { pause, kind, why } = await inDoubt(session);
    expect([kind, why]).toEqual(['in-doubt', expect.stringContaining('timed out')]);
    await session.answer(pause, { decision: 'happened', result: 'it did' });
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'it did' });
    expect(ran.get(session.id)).toHaveLength(1);
  });

  it('E4: that comes to an end late has that shown as evidence, and not served', async () => {
    const { session } = await start('tardy');
    const { pause } = await inDoubt(session);
    const [evidence] = await until('it is kept', async () => {
      const rows = await pool.stores.evidence(session.id);
      return rows.length > 0 && rows;
    });
    expect(evidence).toMatchObject({ tool: 'tardy', call: '1.0', outcome: 'ok', json: '{"receipt":7}' });
    expect((await session.pauses()).map((open) => open.pause)).toEqual([pause]);
    await session.answer(pause, { decision: 'fail', reason: 'it is too late' });
    expect(await session.output()).toBe('done');
    expect((await session.verify()).problems).toEqual([]);
  });

  it('E4: is not run again when the person answers while the dispatch goes on', async () => {
    const { session, goal } = await start('ask', 'slow');
    const { pause } = await inDoubt(session);
    await session.answer(pause, { decision: 'happened', result: 'it did' });
    expect((await session.events()).filter(({ type }) => type === 'ToolCallCompleted')).toEqual([]);
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'it did' });
    expect(ran.get(session.id)).toHaveLength(1);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('E4: is run again where a person says so, with an intent of its own', async () => {
    const { session, goal } = await start('ask');
    const { pause } = await inDoubt(session);
    await session.answer(pause, { decision: 'retry' });
    await session.output();
    expect(told(goal)).toEqual({ type: 'text', value: 'quick' });
    const started = (await session.events()).filter(({ type }) => type === 'ToolCallStarted');
    expect(started).toHaveLength(2);
    expect(ran.get(session.id)).toHaveLength(2);
  });
});
