import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool, type ToolDefinition } from '../../src/index.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { pauseOf } from '../support/doer.ts';
import { type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const { model } = goalModel();
const ask = defineTool({
  name: 'ask',
  description: 'Asks.',
  input: z.object({ text: z.string() }),
  approval: true,
  run: ({ text }) => `asked ${text}`,
});
const other = defineTool({ ...ask, name: 'other', approval: false });

/** The agents of every worker; what differs is the code of the tools. */
const configWith = (...tools: readonly ToolDefinition[]): ApomeshConfig => ({
  models: { goals: model },
  tools,
  agents: modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: tools.map(({ name }) => name), dispatch }),
  ),
});

/** A session that waits for an approval, and no worker is there. */
async function waiting(mode: string) {
  const stores = memoryStores();
  const taskQueue = unique('unfit');
  const pool = await startPool(configWith(ask, other), { stores, taskQueue, workflowTaskMs: 2_000 });
  const session = await pool.start(mode, goalOf(calls(['ask', { text: 'a' }]), calls(['other', { text: 'b' }])));
  const pause = await pauseOf(session);
  await until('it is parked', async () => (await session.view()).agents[`${session.id}/root-1`]?.phase === 'waiting');
  await pool.stop();
  const worker = (config: ApomeshConfig) => startPool(config, { stores, taskQueue });
  return { session, pause, worker };
}

/** The activities that drove the session so far, and with which codes they failed. */
async function dispatches({ client }: Pool, { id }: SessionHandle) {
  const { events } = await client.workflow.getHandle(id).fetchHistory();
  const driven = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes).length;
  const codes = (events ?? []).flatMap(
    ({ activityTaskFailedEventAttributes: failed }) => failed?.failure?.applicationFailureInfo?.type ?? [],
  );
  return { driven, codes: [...new Set(codes)] };
}

const { input } = ask;
const unfit: readonly (readonly [code: string, tools: readonly ToolDefinition[], why: RegExp])[] = [
  ['TOOL_MISSING', [other], /no tool ask/],
  ['TOOL_CHANGED', [defineTool({ ...ask, input: input.extend({ why: z.string() }) }), other], /tool ask .*schema/],
  ['TOOL_CHANGED', [defineTool({ ...ask, effect: 'read' }), other], /tool ask .*of class read, and not effect/],
];

async function waitsForItsTools(mode: string, [code, tools, why]: (typeof unfit)[number]) {
  const { session, pause, worker } = await waiting(mode);
  const before = await worker(configWith(...tools));
  await session.answer(pause, { decision: 'approve' });
  const { recovery } = before.apomesh;
  const [entry] = await until('it is listed', async () => {
    const entries = await recovery.list();
    return entries.length > 0 && entries;
  });
  expect(entry).toMatchObject({ session: session.id, class: 'pin', why: expect.stringMatching(why) });
  const log = await session.events();
  const { driven, codes } = await dispatches(before, session);
  expect(codes).toEqual([code]);
  await sleep(1_500);
  // After half a second, and another second: not as fast as it can.
  expect((await dispatches(before, session)).driven - driven).toBeLessThanOrEqual(2);
  for (const dryRun of [true, false])
    expect(await recovery.scan({ dryRun })).toMatchObject([{ session: session.id, class: 'pin' }]);
  expect(await recovery.list()).toEqual([entry]);
  expect(await session.events()).toEqual(log);
  await before.stop();
  const fit = await worker(configWith(ask, other));
  expect(await session.output()).toBe('done');
  expect(await fit.apomesh.recovery.list()).toEqual([]);
  expect((await session.verify()).problems).toEqual([]);
}

describe('a session on a worker whose tools are not those it was pinned with', () => {
  it('P1: waits unchanged, listed with what is missing or changed, and goes on where they are', async () => {
    await Promise.all(modes.flatMap((mode) => unfit.map((kind) => waitsForItsTools(mode, kind))));
  });

  it.each(modes)('P1: goes on where only the description of a tool is another (%s)', async (mode) => {
    const { session, pause, worker } = await waiting(mode);
    const changed = await worker(configWith(defineTool({ ...ask, description: 'Changed.' }), other));
    await session.answer(pause, { decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect(await changed.apomesh.recovery.list()).toEqual([]);
  });
});
