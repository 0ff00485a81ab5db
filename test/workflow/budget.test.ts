import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type Budget, defineAgent, defineTool, scriptedModel } from '../../src/index.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const DEADLINE_MS = 1_500;

const tools = [
  defineTool({ name: 'note', description: 'Notes.', input: z.object({}), run: () => 'noted' }),
  defineTool({ name: 'ask', description: 'Asks.', input: z.object({}), approval: true, run: () => 'asked' }),
  defineTool({ name: 'far', description: 'Far.', input: z.object({}), taskQueue: 'nowhere', run: () => 'far' }),
  defineTool({ name: 'slow', description: 'Slow.', input: z.object({}), run: () => sleep(DEADLINE_MS, 'slept') }),
];

/** Generations that were asked for, by model. */
const asked = { endless: 0, stuck: 0 };
const usage = { inputTokens: 60, outputTokens: 40 };
const endless = scriptedModel(() => {
  asked.endless += 1;
  return { ...calls(['note'], ['note']), usage };
});
const stuck = scriptedModel(async (_, { signal }) => {
  asked.stuck += 1;
  await sleep(60_000, undefined, { ref: false, ...(signal && { signal }) });
  return {};
});
const waiting = scriptedModel(() => calls(['ask']));
const working = scriptedModel(() => calls(['slow']));
const far = scriptedModel(() => calls(['far']));
const brief = scriptedModel(() => ({ text: 'done' }), { latencyMs: 200 });

const budgets: Record<string, { model: string; budget: Budget }> = {
  steps: { model: 'endless', budget: { maxSteps: 3 } },
  tokens: { model: 'endless', budget: { maxTokens: 250 } },
  cost: { model: 'endless', budget: { maxCostUsd: 0.00045 } },
  calls: { model: 'endless', budget: { maxToolCalls: 5 } },
  stuck: { model: 'stuck', budget: { deadline: DEADLINE_MS } },
  waiting: { model: 'waiting', budget: { deadline: DEADLINE_MS } },
  working: { model: 'working', budget: { deadline: DEADLINE_MS } },
  far: { model: 'far', budget: { deadline: DEADLINE_MS } },
  month: { model: 'brief', budget: { deadline: '30 days' } },
  year: { model: 'brief', budget: { deadline: '1 year' } },
};

let pool: Pool;
beforeAll(async () => {
  const agents = modes.flatMap((dispatch) =>
    Object.entries(budgets).map(([name, { model, budget }]) =>
      defineAgent({
        name: `${name}-${dispatch}`,
        model,
        instructions: '',
        tools: ['note', 'ask', 'far', 'slow'],
        dispatch,
        budget,
      }),
    ),
  );
  const models = { endless, stuck, waiting, working, far, brief };
  pool = await startPool({ models, prices: { endless: { input: 1, output: 3 } }, tools, agents });
});

/** How a session ended, and what it logged. */
async function run(agent: string) {
  const session = await pool.start(agent);
  const [error, started] = [await session.output().catch((error) => error.fields), Date.now()];
  const events = await session.events();
  const count = (type: string) => events.filter((event) => event.type === type).length;
  expect((await session.verify()).problems).toEqual([]);
  const result = await pool.client.workflow.getHandle(session.id).result();
  const took = Date.parse(events.at(-1)?.at ?? '') - Date.parse(events[0]?.at ?? '');
  return { session, error, result, events, count, took, started };
}

describe.each(modes)('a budget of an agent driven by %s', (mode) => {
  it.each([
    ['steps', 'maxSteps', 3, 6],
    ['tokens', 'maxTokens', 3, 6],
    ['cost', 'maxCostUsd', 3, 6],
    ['calls', 'maxToolCalls', 3, 4],
  ])('F2: %s ends it as exhausted by %s', async (name, reason, generations, made) => {
    const { session, error, result, count } = await run(`${name}-${mode}`);
    expect(error).toMatchObject({ phase: 'exhausted', reason });
    expect(result).toEqual({ phase: 'exhausted', reason, output: null });
    expect(count('GenerationCompleted')).toBe(generations);
    expect(count('ToolCallStarted')).toBe(made);
    expect(count('ToolCallCompleted')).toBe(made);
    expect(await session.view()).toMatchObject({ terminal: true, reason, sideEffects: made });
  });

  it('F2: a deadline ends a generation in progress, and asks for no other', async () => {
    asked.stuck = 0;
    const { result, took } = await run(`stuck-${mode}`);
    expect(result).toMatchObject({ phase: 'exhausted', reason: 'deadline' });
    expect(took).toBeGreaterThanOrEqual(DEADLINE_MS);
    expect(took).toBeLessThan(DEADLINE_MS + 2_000);
    expect(asked.stuck).toBe(1);
  });

  it('F2, R7: a deadline ends an agent that waits for a person, and withdraws its pauses', async () => {
    const { result, took, events } = await run(`waiting-${mode}`);
    expect(result).toMatchObject({ phase: 'exhausted', reason: 'deadline' });
    expect(took).toBeGreaterThanOrEqual(DEADLINE_MS);
    expect(took).toBeLessThan(DEADLINE_MS + 3_000);
    expect(events.slice(-2).map(({ data }) => data)).toMatchObject([
      { decision: 'withdrawn' },
      { phase: 'exhausted', reason: 'deadline' },
    ]);
  });

  it('F2: a deadline that passes during a call lets the call end', async () => {
    const { result, count } = await run(`working-${mode}`);
    expect(result).toMatchObject({ phase: 'exhausted', reason: 'deadline' });
    expect(count('GenerationCompleted')).toBe(1);
    expect(count('ToolCallCompleted')).toBe(1);
  });

  it('F2: a deadline ends one whose call no worker takes', async () => {
    const { result, took, count } = await run(`far-${mode}`);
    expect(result).toMatchObject({ phase: 'exhausted', reason: 'deadline' });
    expect(took).toBeLessThan(DEADLINE_MS + 2_000);
    expect(count('ToolCallStarted')).toBe(0);
  });

  it.each(['month', 'year'])('F2: a deadline of a %s is not over at once', async (name) => {
    expect((await run(`${name}-${mode}`)).result).toMatchObject({ phase: 'completed' });
  });
});
