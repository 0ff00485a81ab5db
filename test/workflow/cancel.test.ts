import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool, scriptedModel } from '../../src/index.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { keptUpdates } from '../support/kept-updates.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls } from '../support/script.ts';
import { temporalCli } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const GRACE_MS = 300;

/** Sessions whose tool or model is at work, and what became of that. */
const working = new Map<string, 'begun' | 'stopped'>();

const work = async (session: string, signal: AbortSignal | undefined) => {
  working.set(session, 'begun');
  try {
    await sleep(60_000, undefined, { ref: false, ...(signal && { signal }) });
  } catch (error) {
    working.set(session, 'stopped');
    throw error;
  }
};
const tools = [
  defineTool({
    name: 'work',
    description: 'Works.',
    input: z.object({}),
    run: (_, { session, signal }) => work(session, signal),
  }),
  defineTool({
    name: 'deaf',
    description: 'Heeds nothing.',
    input: z.object({}),
    run: (_, { session }) => work(session, undefined),
  }),
  defineTool({ name: 'ask', description: 'Asks.', input: z.object({}), approval: true, run: () => 'asked' }),
];

/** Generations asked for, by goal, which is the session's name. */
const asked = new Map<string, number>();
const model = (step: (goal: string, signal: AbortSignal | undefined) => ReturnType<typeof calls> | Promise<object>) =>
  scriptedModel((prompt, { signal }) => {
    const goal =
      prompt.flatMap(({ role, content }) =>
        role === 'user' && content[0]?.type === 'text' ? [content[0].text] : [],
      )[0] ?? '';
    asked.set(goal, (asked.get(goal) ?? 0) + 1);
    return step(goal, signal);
  });
const models = {
  work: model(() => calls(['work'])),
  deaf: model(() => calls(['deaf'])),
  ask: model(() => calls(['ask'], ['ask'])),
  think: model(async (goal, signal) => {
    await work(goal, signal);
    return {};
  }),
};

const { stores, counts } = keptUpdates(
  memoryStores(),
  () => pool.client,
  ({ type, data }) => type === 'AgentLifecycle' && data.phase === 'cancelled',
);

let pool: Pool;
beforeAll(async () => {
  const agents = modes.flatMap((dispatch) =>
    Object.keys(models).map((name) =>
      defineAgent({
        name: `${name}-${dispatch}`,
        model: name,
        instructions: '',
        tools: ['work', 'deaf', 'ask'],
        dispatch,
      }),
    ),
  );
  const limits = { heartbeatTimeout: '1s', doubtGrace: GRACE_MS } as const;
  pool = await startPool({ models, tools, agents, limits }, { stores });
});

let started = 0;
async function start(agent: string): Promise<SessionHandle> {
  const id = `cancel-${process.pid}-${Date.now()}-${started++}`;
  return pool.start(agent, id, id);
}

/** Checks how a cancelled session ended, and that nothing more was paid. */
async function expectCancelled(session: SessionHandle, detail: string | null, generations: number): Promise<void> {
  await expect(session.output()).rejects.toMatchObject({ fields: { phase: 'cancelled', detail } });
  const events = await session.events();
  expect(events.at(-1)).toMatchObject({
    type: 'AgentLifecycle',
    agent: `${session.id}/root-1`,
    data: { phase: 'cancelled' },
  });
  await sleep(300);
  expect(await session.events()).toHaveLength(events.length);
  expect(asked.get(session.id)).toBe(generations);
  expect(await session.view()).toMatchObject({ terminal: true, pauses: [] });
  expect((await session.verify()).problems).toEqual([]);
}

const statusOf = async ({ id }: SessionHandle) => {
  const handle = pool.client.workflow.getHandle(id);
  await handle.result().catch(() => undefined);
  return (await handle.describe()).status.name;
};

describe.each(modes)('cancelling a session driven by %s', (mode) => {
  const atWork = async (agent: string) => {
    const session = await start(`${agent}-${mode}`);
    await until('it is at work', () => working.get(session.id) === 'begun');
    return session;
  };

  it('W0: reaches a running tool, by the client', async () => {
    const session = await atWork('work');
    await session.cancel('too dear');
    await expectCancelled(session, 'too dear', 1);
    expect(working.get(session.id)).toBe('stopped');
    expect(await statusOf(session)).toBe('COMPLETED');
    const completed = (await session.events()).filter(({ type }) => type === 'ToolCallCompleted');
    expect(completed).toMatchObject([{ data: { call: '1.0', outcome: 'error' } }]);
  });

  it('W0: reaches a running generation, by a signal', async () => {
    const session = await atWork('think');
    await pool.client.workflow.getHandle(session.id).signal('cancel');
    await expectCancelled(session, null, 1);
    expect(working.get(session.id)).toBe('stopped');
    expect((await session.view()).usage.outputTokens).toBe(0);
  });

  it('W0: reaches both by the temporal command, and the workflow counts as cancelled', async () => {
    const sessions = [await atWork('work'), await atWork('think')];
    for (const { id } of sessions) await temporalCli('workflow', 'cancel', '--workflow-id', id);
    for (const session of sessions) {
      await expectCancelled(session, null, 1);
      expect(working.get(session.id)).toBe('stopped');
      expect(await statusOf(session)).toBe('CANCELLED');
    }
  });

  it('R7: ends a session that waits, and withdraws its pauses', async () => {
    const session = await start(`ask-${mode}`);
    await until('it waits', async () => (await session.pauses()).length === 2);
    await pool.client.workflow.getHandle(session.id).executeUpdate('cancel', { args: [{ reason: 'no' }] });
    await expectCancelled(session, 'no', 1);
    // Before the log, Temporal: else a server that dies between leaves a workflow that waits for a session that is over.
    expect(counts.get(session.id)).toBe(1);
    const answers = (await session.events()).flatMap(({ type, data }) =>
      type === 'PauseAnswered' ? [data.decision] : [],
    );
    expect(answers).toEqual(['withdrawn', 'withdrawn']);
    const late = session.answer('x', { decision: 'approve' });
    await expect(late).rejects.toMatchObject({ code: 'SESSION_TERMINAL' });
  });

  it('E4: ends it though a tool does not heed the signal, whose effect is then unknown', async () => {
    const session = await atWork('deaf');
    await session.cancel();
    await expectCancelled(session, null, 1);
    const completed = (await session.events()).filter(({ type }) => type === 'ToolCallCompleted');
    expect(completed).toMatchObject([{ data: { call: '1.0', outcome: 'unknown' } }]);
  });
});

it('W0: ends a session that no worker has taken up yet', async () => {
  const { stores, taskQueue } = pool;
  await pool.stop();
  const session = await start('work-loop');
  await session.cancel('never mind');
  const agents = [defineAgent({ name: 'work-loop', model: 'work', instructions: '', tools: ['work'] })];
  await startPool({ models, tools, agents }, { stores, taskQueue });
  await expect(session.output()).rejects.toMatchObject({ fields: { phase: 'cancelled', detail: 'never mind' } });
  expect(asked.get(session.id)).toBeUndefined();
  expect((await session.events()).map(({ type, data }) => ('phase' in data ? data.phase : type))).toEqual([
    'SessionStarted',
    'born',
    'cancelled',
  ]);
});
