import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { Pause } from '../../src/client/pauses.ts';
import { bodyDigest, defineAgent, defineTool, type Envelope } from '../../src/index.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const goals = goalModel();

/** What the tools really ran with, by session. */
const ran = new Map<string, string[]>();
const run = (session: string, what: string) => {
  ran.set(session, [...(ran.get(session) ?? []), what]);
  return `${what} is paid`;
};

const tools = [
  defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ to: z.string(), cents: z.number().max(1_000) }),
    approval: true,
    run: ({ to, cents }, { session }) => run(session, `${to} ${cents}`),
  }),
  defineTool({
    name: 'spend',
    description: 'Pays, and asks where it is much.',
    input: z.object({ cents: z.number() }),
    approval: ({ cents }) => cents > 100,
    run: ({ cents }, { session }) => run(session, `${cents}`),
  }),
  defineTool({
    name: 'slow',
    description: 'Takes its time.',
    input: z.object({ ms: z.number() }),
    run: ({ ms }) => sleep(ms, 'slept'),
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
  pool = await startPool({ models: { goals: goals.model }, tools, agents });
});

const waiting = (session: SessionHandle, count = 1): Promise<readonly Pause[]> =>
  until(`${count} pauses are open`, async () => {
    const pauses = await session.pauses();
    return pauses.length === count && pauses;
  });

/** What the model saw of the calls of the node before its last. */
const seen = (goal: string) =>
  JSON.parse(goals.prompts(goal).at(-1) ?? '[]')
    .at(-1)
    .content.map(({ output }: { output: object }) => output);

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

describe.each(modes)('an approval of an agent driven by %s', (mode) => {
  const start = (goal: string) => pool.start(`goals-${mode}`, goal);

  it('H4: approve runs the call, and it did not run before', async () => {
    const goal = goalOf(calls(['pay', { to: 'ann', cents: 5 }]));
    const session = await start(goal);
    const [pause] = await waiting(session);
    expect(pause).toMatchObject({ kind: 'approval', tool: 'pay', args: { to: 'ann', cents: 5 }, call: '1.0' });
    expect(ran.get(session.id)).toBeUndefined();
    expect(ofType(await session.events(), 'ToolCallStarted')).toEqual([]);
    await session.answer(pause?.pause ?? '', { decision: 'approve', by: 'eve' });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)).toEqual(['ann 5']);
    expect(seen(goal)).toEqual([{ type: 'text', value: 'ann 5 is paid' }]);
    expect(ofType(await session.events(), 'PauseAnswered')[0]?.data).toMatchObject({ decision: 'approve', by: 'eve' });
  });

  it('H4: reject does not run it, and the agent sees why', async () => {
    const goal = goalOf(calls(['pay', { to: 'ann', cents: 5 }]));
    const session = await start(goal);
    const [pause] = await waiting(session);
    await session.answer(pause?.pause ?? '', { decision: 'reject', reason: 'not before Monday', by: 'eve' });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)).toBeUndefined();
    expect(seen(goal)).toEqual([{ type: 'execution-denied', reason: 'denied by eve: not before Monday' }]);
    const events = await session.events();
    expect(ofType(events, 'ToolCallStarted')).toEqual([]);
    expect(ofType(events, 'ToolCallCompleted')[0]?.data.outcome).toBe('denied');
    expect(JSON.stringify(events.slice(1))).not.toContain('Monday');
  });

  it('H4, E2: edit runs it with the new arguments, under the same key, and logs their digest', async () => {
    const goal = goalOf(calls(['pay', { to: 'ann', cents: 5 }]));
    const session = await start(goal);
    const [pause] = await waiting(session);
    const id = pause?.pause ?? '';
    const wrong = session.answer(id, { decision: 'edit', args: { to: 'ann', cents: 5_000 } });
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_ANSWER', message: expect.stringContaining('cents') });
    await expect(session.answer(id, { decision: 'edit' })).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    const args = { to: 'bob', cents: 7 };
    await session.answer(id, { decision: 'edit', args });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)).toEqual(['bob 7']);
    const events = await session.events();
    const [raised] = ofType(events, 'PauseRaised');
    const [started] = ofType(events, 'ToolCallStarted');
    expect(started?.data).toMatchObject({ key: raised?.data.key, args: bodyDigest(args) });
    expect(ofType(events, 'ToolCallCompleted')[0]?.data.key).toBe(raised?.data.key);
  });

  it('H4: a predicate decides by the arguments', async () => {
    const session = await start(goalOf(calls(['spend', { cents: 100 }], ['spend', { cents: 101 }])));
    const [pause] = await waiting(session);
    expect(pause?.args).toEqual({ cents: 101 });
    await until('the other has run', () => ran.get(session.id)?.length === 1);
    await session.answer(pause?.pause ?? '', { decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)).toEqual(['100', '101']);
  });

  it('H3: several open at once are answered in any order, each for its own call', async () => {
    const asked = ['ann', 'bob', 'cyd', 'ann'].map((to, i) => ['pay', { to, cents: i === 3 ? 0 : i }] as const);
    const goal = goalOf(calls(...asked));
    const session = await start(goal);
    const pauses = await waiting(session, 4);
    expect(new Set(pauses.map(({ pause }) => pause)).size).toBe(4);
    const [ann, bob, cyd, again] = pauses.map(({ pause }) => pause) as [string, string, string, string];
    await session.answer(cyd, { decision: 'approve' });
    await until('cyd is paid', () => ran.get(session.id)?.length === 1);
    await session.answer(again, { decision: 'reject' });
    await session.answer(ann, { decision: 'approve' });
    await session.answer(bob, { decision: 'edit', args: { to: 'dan', cents: 9 } });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)?.[0]).toBe('cyd 2');
    expect(ran.get(session.id)?.toSorted()).toEqual(['ann 0', 'cyd 2', 'dan 9']);
    expect(seen(goal)).toMatchObject([
      { value: 'ann 0 is paid' },
      { value: 'dan 9 is paid' },
      { value: 'cyd 2 is paid' },
      { type: 'execution-denied' },
    ]);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('H3: an answer counts that comes while other calls of the node still run', async () => {
    const asked = [['pay', { to: 'ann', cents: 1 }] as const, ['pay', { to: 'bob', cents: 2 }] as const];
    const session = await start(goalOf(calls(...asked, ['slow', { ms: 1_500 }])));
    const [ann, bob] = await waiting(session, 2);
    await session.answer(ann?.pause ?? '', { decision: 'approve' });
    expect(ofType(await session.events(), 'ToolCallCompleted')).toEqual([]);
    await until('the first is paid', () => ran.get(session.id)?.length === 1);
    expect(ran.get(session.id)).toEqual(['ann 1']);
    await session.answer(bob?.pause ?? '', { decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)).toEqual(['ann 1', 'bob 2']);
  });

  it('H3: all answers count that come while other calls of the node still run', async () => {
    const asked = [['pay', { to: 'ann', cents: 1 }] as const, ['pay', { to: 'bob', cents: 2 }] as const];
    const session = await start(goalOf(calls(...asked, ['slow', { ms: 3_000 }])));
    const pauses = await waiting(session, 2);
    await Promise.all(pauses.map(({ pause }) => session.answer(pause, { decision: 'approve' })));
    expect(ofType(await session.events(), 'ToolCallCompleted')).toEqual([]);
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)?.toSorted()).toEqual(['ann 1', 'bob 2']);
  });

  it('E2: the very same call asked for again needs an approval of its own', async () => {
    const pay = calls(['pay', { to: 'ann', cents: 5 }]);
    const session = await start(goalOf(pay, pay));
    const [first] = await waiting(session);
    await session.answer(first?.pause ?? '', { decision: 'approve' });
    const second = await until('it asks again', async () => {
      const [pause] = await session.pauses();
      return pause && pause.pause !== first?.pause && pause;
    });
    expect(ran.get(session.id)).toEqual(['ann 5']);
    await session.answer(second.pause, { decision: 'approve' });
    await session.output();
    expect(ran.get(session.id)).toEqual(['ann 5', 'ann 5']);
  });
});

it('H5: waiting holds no worker slot', async () => {
  const agents = [defineAgent({ name: 'a', model: 'goals', instructions: '', tools: ['pay'] })];
  const one = { maxConcurrentActivityTaskExecutions: 1 };
  const small = await startPool({ models: { goals: goals.model }, tools, agents }, { worker: one });
  const goal = goalOf(calls(['pay', { to: 'ann', cents: 5 }]));
  const held = await Promise.all([1, 2, 3].map(() => small.start('a', goal)));
  for (const session of held) await waiting(session);
  expect(await (await small.start('a', goalOf())).output()).toBe('done');
  for (const { id } of held) {
    const { raw } = await small.client.workflow.getHandle(id).describe();
    expect(raw.pendingActivities ?? []).toEqual([]);
  }
  await Promise.all(held.map((session) => session.cancel()));
});
