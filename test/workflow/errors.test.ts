import { setTimeout as sleep } from 'node:timers/promises';
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, scriptedModel } from '../../src/index.ts';
import { type OpenAiReply, type OpenAiServer, startOpenAi } from '../support/openai-server.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const goals = goalModel();

/** Attempts of the tools that fail at first, by what they were asked. */
const attempts = new Map<string, number>();
const failing = (name: string, effect: 'read' | 'effect', maximumAttempts: number) =>
  defineTool({
    name,
    description: 'Fails until the third time.',
    effect,
    input: z.object({ id: z.string() }),
    retry: { maximumAttempts, initialInterval: 20 },
    run: ({ id }) => {
      const made = (attempts.get(id) ?? 0) + 1;
      attempts.set(id, made);
      if (made < 3) throw new Error(`the line is busy (${made})`);
      return `through at ${made}`;
    },
  });

const tools = [
  defineTool({
    name: 'fail',
    description: 'Fails.',
    input: z.object({}),
    run: () => {
      throw new Error('the disk is full');
    },
  }),
  defineTool({
    name: 'add',
    description: 'Adds.',
    input: z.object({ a: z.number(), b: z.number() }),
    run: ({ a, b }) => a + b,
  }),
  defineTool({
    name: 'odd',
    description: 'Odd.',
    effect: 'read',
    input: z.object({}),
    run: () => ({ list: [1, new Date(0)] }),
  }),
  defineTool({ name: 'much', description: 'Much.', input: z.object({}), run: () => 'x'.repeat(20_000) }),
  defineTool({ name: 'void', description: 'Gives nothing.', input: z.object({}), run: () => undefined }),
  defineTool({
    name: 'keys',
    description: 'Odd keys.',
    effect: 'read',
    input: z.object({}),
    run: () => JSON.parse('{"__proto__":{"$set":1},"a.b":"\\u0000"}'),
  }),
  defineTool({
    name: 'stuck',
    description: 'Is not heard of again.',
    effect: 'read',
    input: z.object({}),
    timeout: 200,
    run: () => sleep(3_600_000, undefined, { ref: false }),
  }),
  failing('retried', 'effect', 3),
  failing('once', 'effect', 1),
  failing('reread', 'read', 3),
];

let pool: Pool;
/** What the server answers, by the order asked. */
let replies: readonly OpenAiReply[] = [];
let server: OpenAiServer;
let asked = 0;

beforeAll(async () => {
  server = await startOpenAi(() => replies[asked++] ?? { status: 418, text: 'asked too often' });
  const { model: aGoalModel } = goals;
  const throwing = scriptedModel(() => {
    throw new TypeError('the script is wrong');
  });
  const openai = createOpenAI({ baseURL: server.baseURL, apiKey: 'none' });
  const output = z.object({ n: z.number() });
  const agents = modes.flatMap((dispatch) => [
    defineAgent({
      name: `goals-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: tools.map(({ name }) => name),
      dispatch,
    }),
    defineAgent({ name: `shaped-${dispatch}`, model: 'goals', instructions: '', output, dispatch }),
    defineAgent({ name: `served-${dispatch}`, model: 'openai/gpt-5', instructions: '', dispatch }),
    defineAgent({ name: `throwing-${dispatch}`, model: 'throwing', instructions: '', dispatch }),
  ]);
  const models = { goals: aGoalModel, throwing, 'openai/*': openai };
  pool = await startPool({ models, tools, agents, limits: { maxBodyBytes: 10_000 } });
});
afterAll(() => server.close());
afterEach(() => {
  asked = 0;
  replies = [];
});

/** What the model was told a call gave. */
async function told(agent: string, tool: string, args: Readonly<Record<string, string>> = {}): Promise<object> {
  const goal = goalOf(calls([tool, args]));
  const session = await pool.start(agent, goal);
  expect(await session.output()).toBe('done');
  expect((await session.verify()).problems).toEqual([]);
  const [, second = '[]'] = goals.prompts(goal);
  return JSON.parse(second).at(-1).content[0].output;
}

describe.each(modes)('an agent driven by %s', (mode) => {
  it('W6: tells the model what its tools threw, that it has no such tool, and what is wrong with arguments', async () => {
    const goal = goalOf(calls(['fail'], ['gone', { a: 1 }], ['add', { a: 1, b: 'two' }], ['add', { a: 1, b: 2 }]));
    const session = await pool.start(`goals-${mode}`, goal);
    expect(await session.output()).toBe('done');
    const { content } = JSON.parse(goals.prompts(goal)[1] ?? '[]').at(-1);
    expect(content.map(({ output }: { output: object }) => output)).toEqual([
      { type: 'error-text', value: expect.stringContaining('the disk is full') },
      { type: 'error-text', value: expect.stringMatching(/no tool "gone".*fail.*add/) },
      { type: 'error-text', value: expect.stringMatching(/expected number.*\n.*at b/) },
      { type: 'json', value: 3 },
    ]);
    const started = (await session.events()).filter(({ type }) => type === 'ToolCallStarted');
    expect(started).toHaveLength(2);
  });

  it('J5: tells the model of a result that JSON cannot carry, with its path', async () => {
    expect(await told(`goals-${mode}`, 'odd')).toEqual({
      type: 'error-text',
      value: expect.stringMatching(/odd: UNSERIALIZABLE_VALUE: .*\$\.list\[1\]/),
    });
  });

  it('L7: tells the model of a result over the limit, with sizes', async () => {
    expect(await told(`goals-${mode}`, 'much')).toEqual({
      type: 'error-text',
      value: expect.stringMatching(/BODY_TOO_LARGE: much is 20002 bytes and the limit is 10000/),
    });
  });

  it('L7: keeps odd keys and the lack of a result', async () => {
    const odd = (await told(`goals-${mode}`, 'keys')) as { value: object };
    expect(JSON.stringify(odd.value)).toBe('{"__proto__":{"$set":1},"a.b":"\\u0000"}');
    expect(await told(`goals-${mode}`, 'void')).toEqual({ type: 'json', value: null });
  });

  it('E3: an unanswered read is an error after its time-out', async () => {
    expect(await told(`goals-${mode}`, 'stuck')).toEqual({
      type: 'error-text',
      value: expect.stringContaining('timed out after 200 ms'),
    });
  });

  it('W6: tries a tool again as its retry policy says, and an effect once where it says nothing', async () => {
    expect(await told(`goals-${mode}`, 'retried', { id: `a-${mode}` })).toEqual({
      type: 'text',
      value: 'through at 3',
    });
    expect(await told(`goals-${mode}`, 'reread', { id: `b-${mode}` })).toEqual({ type: 'text', value: 'through at 3' });
    expect(await told(`goals-${mode}`, 'once', { id: `c-${mode}` })).toEqual({
      type: 'error-text',
      value: expect.stringContaining('the line is busy (1)'),
    });
  });

  it('W0: corrects a final answer that does not fit', async () => {
    const goal = goalOf({ text: 'seven' }, { text: '{"n":"7"}' }, { text: '{"n":7}' });
    const session = await pool.start(`shaped-${mode}`, goal);
    expect(await session.output()).toEqual({ n: 7 });
    const [, second = '', third = ''] = goals.prompts(goal);
    expect(JSON.parse(second).at(-1).content[0].text).toContain('not JSON');
    expect(JSON.parse(third).at(-1).content[0].text).toMatch(/expected number.*\n.*at n/);
  });

  it('W0: fails an agent whose final answer does not fit for the third time', async () => {
    const wrong = { text: '{}' };
    const session = await pool.start(`shaped-${mode}`, goalOf(wrong, wrong, wrong, wrong));
    await expect(session.output()).rejects.toMatchObject({ fields: { phase: 'failed', reason: 'output-misfit' } });
    expect((await session.view()).usage.outputTokens).toBe(3);
  });

  it('W6: asks a model again after a passing error', async () => {
    const headers = { 'retry-after-ms': '20' };
    replies = [{ status: 429, headers }, { status: 503, headers }, { text: 'at last' }];
    const session = await pool.start(`served-${mode}`);
    expect(await session.output()).toBe('at last');
    expect(asked).toBe(3);
    expect((await session.events()).filter(({ type }) => type === 'GenerationCompleted')).toHaveLength(1);
  });

  it('W6: fails an agent whose model refuses for good, with what it said', async () => {
    replies = [{ status: 400, text: 'the prompt is too long' }];
    const session = await pool.start(`served-${mode}`);
    const reason = {
      phase: 'failed',
      reason: 'model-error',
      detail: expect.stringContaining('the prompt is too long'),
    };
    await expect(session.output()).rejects.toMatchObject({ fields: reason });
    expect(asked).toBe(1);
    const ended = pool.client.workflow.getHandle(session.id).result();
    await expect(ended).rejects.toMatchObject({ cause: { type: 'model-error', nonRetryable: true } });
    expect((await session.view()).agents[`${session.id}/root-1`]).toMatchObject({ epoch: 0, phase: 'failed' });
  });

  it('W6: a model that throws is no lost worker', async () => {
    const session = await pool.start(`throwing-${mode}`);
    const reason = { phase: 'failed', reason: 'model-threw', detail: 'the script is wrong' };
    await expect(session.output()).rejects.toMatchObject({ fields: reason });
    expect((await session.events()).map(({ type }) => type)).not.toContain('AgentResuming');
    expect(await pool.stores.workers()).toEqual([expect.objectContaining({ struck: false })]);
  });
});
