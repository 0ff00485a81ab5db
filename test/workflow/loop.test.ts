import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, type Envelope, scriptedModel } from '../../src/index.ts';
import { historyOf } from '../support/history.ts';
import { openMongo, type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const MARKER = 'xyzzy-marker';
const goals = goalModel();
const text = z.object({ text: z.string() });

/** How many of the tool run at once, and how many did at most. */
const slow = { now: 0, most: 0 };

const tools = [
  defineTool({ name: 'note', description: 'Notes.', input: text, run: ({ text }) => `${text} was noted` }),
  defineTool({ name: 'look', description: 'Looks.', effect: 'read', input: text, run: ({ text }) => ({ saw: text }) }),
  defineTool({ name: 'ask', description: 'Asks.', input: text, approval: true, run: ({ text }) => text }),
  defineTool({
    name: 'big',
    description: 'Much.',
    input: z.object({ n: z.number() }),
    run: ({ n }) => `${n}`.repeat(4_000_000),
  }),
  defineTool({
    name: 'slow',
    description: 'Takes its time.',
    input: z.object({}).catchall(z.number()),
    run: async () => {
      slow.now += 1;
      slow.most = Math.max(slow.most, slow.now);
      await sleep(400);
      slow.now -= 1;
      return 'slept';
    },
  }),
];

const marked = scriptedModel((_, { node }) => {
  if (node > 2) return { text: `${MARKER}-answer` };
  const args = { text: `${MARKER}-args-${node}` };
  return { text: `${MARKER}-said`, calls: ['note', 'look'].map((tool) => ({ tool, args })) };
});
const large = scriptedModel((_, { node }) =>
  node < 5 ? { calls: [{ tool: 'big', args: { n: node } }] } : { text: 'ok' },
);
const twelve = scriptedModel((_, { node }) => {
  return node < 12 ? { calls: [{ tool: 'note', args: { text: `${node}` } }] } : { text: 'ok' };
});

let pool: Pool;
let mongoPool: Pool;
beforeAll(async () => {
  const names = tools.map(({ name }) => name);
  const agents = modes.flatMap((dispatch) =>
    ['marked', 'large', 'twelve', 'goals'].map((model) =>
      defineAgent({
        name: `${model}-${dispatch}`,
        model,
        instructions: `${MARKER}-instructions`,
        tools: names,
        dispatch,
      }),
    ),
  );
  const config = { models: { marked, large, twelve, goals: goals.model }, tools, agents };
  pool = await startPool(config);
  mongoPool = await startPool(config, { stores: openMongo() });
});

describe.each(modes)('an agent driven by %s', (mode) => {
  it('L3, L7: leaves no body in the history of Temporal nor on the log', async () => {
    const session = await pool.start(`marked-${mode}`, `${MARKER}-goal`);
    expect(await session.output()).toBe(`${MARKER}-answer`);
    const { text } = await historyOf(pool.client, session.id);
    expect(text).not.toContain(MARKER);
    expect(text).toContain(session.id);
    const [started, ...others] = await session.events();
    expect(JSON.stringify(others)).not.toContain(MARKER);
    expect(JSON.stringify(started).split(MARKER)).toHaveLength(2);
    expect(started?.data).toHaveProperty('goal', `${MARKER}-goal`);
  });

  it('L7: keeps the history of a conversation of 20 MB under 100 KB', async () => {
    const session = await pool.start(`large-${mode}`);
    expect(await session.output()).toBe('ok');
    const events = await session.events();
    const bodies = events.map(({ type, data }) => (type === 'ToolCallCompleted' ? data.ref.bytes : 0));
    expect(bodies.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(20_000_000);
    expect((await historyOf(pool.client, session.id)).bytes).toBeLessThan(100_000);
  });

  it('W0: runs the calls of a node side by side', async () => {
    slow.most = 0;
    const goal = goalOf(calls(['slow', { a: 1 }], ['slow', { a: 2 }], ['slow', { a: 3 }]));
    const session = await pool.start(`goals-${mode}`, goal);
    await session.output();
    expect(slow.most).toBe(3);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('C1: has a snapshot at each node boundary, of calls side by side as well', async () => {
    const three = calls(['note', { text: 'a' }], ['note', { text: 'b' }], ['look', { text: 'c' }]);
    const session = await mongoPool.start(`goals-${mode}`, goalOf(three, three, three, three));
    await session.output();
    const events = await session.events();
    const snapshots = events.flatMap(({ type, data }) => (type === 'AgentSnapshot' ? [[data.node, data.source]] : []));
    expect(snapshots).toEqual([1, 2, 3, 4].map((node) => [node, 'node']));
  });
});

it('W0: a session that fits one slice has at most 20 events of history', async () => {
  const session = await pool.start('twelve-loop');
  await session.output();
  expect((await session.view()).agents[`${session.id}/root-1`]?.snapshot?.node).toBe(12);
  expect((await historyOf(pool.client, session.id)).events).toBeLessThanOrEqual(20);
});

it('W0: both ways of dispatch give the same log', async () => {
  const goal = goalOf(
    calls(['note', { text: 'a' }]),
    calls(['look', { text: 'b' }]),
    calls(['note', { text: 'a' }]),
    calls(['nothing']),
    calls(['note', { wrong: 1 }]),
    calls(['ask', { text: 'c' }]),
    calls(['ask', { text: 'd' }]),
  );
  const name = unique('same');
  const logs = await Promise.all(
    modes.map(async (mode) => {
      const session = await pool.start(`goals-${mode}`, goal, `${name}-${mode}`);
      for await (const { type, data } of session.tail()) {
        if (type !== 'PauseRaised') continue;
        const isFirst = data.call === '6.0';
        await session.answer(data.pause, isFirst ? { decision: 'approve', by: 'me' } : { decision: 'reject' });
      }
      return comparable(await session.events(), name, mode);
    }),
  );
  expect(logs[1]).toEqual(logs[0]);
  expect(new Set(logs[0]?.map(({ type }) => type))).toContain('PauseAnswered');
});

/** A log without what may differ: times, the names of session and mode, and the numbers of slices. */
function comparable(events: readonly Envelope[], name: string, mode: string) {
  const keys = new Map<string, string>();
  const named = (key: string) => keys.get(key) ?? keys.set(key, `key ${keys.size}`).get(key) ?? '';
  return events.map(({ type, id, agent, seq, writer, data }) => {
    const whole = JSON.stringify({ type, id, agent, seq, writer, data })
      .replaceAll(new RegExp(`(?<=goals-|${name}-)${mode}`, 'g'), 'MODE')
      .replaceAll(`"dispatch":"${mode}"`, '"dispatch":"MODE"')
      .replace(/("id":"(?:started|waiting|running)\/[^"]*\/\d+\.\d+)\.\d+/, '$1.SLICE')
      .replace(/(\.SLICE\/[\d.]+)\/\d+"/, '$1"')
      .replaceAll(/(sha256:|approval-)([0-9a-f]{16})[0-9a-f]*/g, (_, kind: string, key: string) => kind + named(key));
    const { data: bare, ...rest } = JSON.parse(whole) as Pick<Envelope, 'type' | 'id' | 'data'>;
    return { ...rest, data: withoutSizes(bare) };
  });
}

/** Bodies hold the names of the agent, so that their sizes differ with it. */
const withoutSizes = (data: object): unknown =>
  JSON.parse(JSON.stringify(data, (key, value) => (key === 'bytes' || key === 'digest' ? undefined : value)));
