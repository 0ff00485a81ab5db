import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { answerCommands } from '../../src/contract/commands.ts';
import { AGENT, AWAITING, PHASE } from '../../src/contract/search-attributes.ts';
import { bodyDigest, defineAgent, defineTool } from '../../src/index.ts';
import { beatsOf, historyOf } from '../support/history.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;

/** Released by the tests. */
const gate: { open: () => void } = { open: () => undefined };
const tools = [
  defineTool({
    name: 'hold',
    description: 'Waits for the test.',
    input: z.object({}),
    run: () =>
      new Promise((resolve) => {
        gate.open = () => resolve('held');
      }),
  }),
  defineTool({
    name: 'ask',
    description: 'Asks.',
    input: z.object({ text: z.string() }),
    approval: true,
    run: () => 'asked',
  }),
];

let pool: Pool;
beforeAll(async () => {
  const agents = modes.map((dispatch) =>
    defineAgent({
      name: `goals-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: ['hold', 'ask'],
      dispatch,
      budget: { maxSteps: 9 },
    }),
  );
  const { model } = goalModel();
  pool = await startPool({ models: { goals: model }, tools, agents, limits: { heartbeatTimeout: '1s' } });
});

const handleOf = (id: string) => pool.client.workflow.getHandle(id);

/** What a query of the Web UI's own shows. */
interface Metadata {
  readonly currentDetails?: string;
}
const detailsOf = async (id: string) =>
  (await handleOf(id).query<Metadata>('__temporal_workflow_metadata')).currentDetails ?? '';

describe.each(modes)('a session driven by %s', (mode) => {
  it('W2: says in its heartbeats at which node and call it is, and on which worker', async () => {
    const session = await pool.start(`goals-${mode}`, goalOf(calls(['hold'])));
    const beat = await until('the activity says what it does', async () => {
      const [details] = await beatsOf(pool.client, session.id);
      return details?.call === 'hold' ? details : null;
    });
    const [worker] = await pool.stores.workers();
    expect(beat).toEqual({ node: 1, call: 'hold', worker: worker?.worker });
    gate.open();
    await session.output();
  });

  it('W0: names its activities readably', async () => {
    const session = await pool.start(`goals-${mode}`, goalOf(calls(['hold'])));
    await until('the tool runs', async () => (await session.view()).sideEffects === 1);
    await sleep(100);
    gate.open();
    await session.output();
    const { text } = await historyOf(pool.client, session.id);
    const summaries = mode === 'loop' ? ['dispatchAgent goals-loop'] : ['generate goals-call 1', 'callTool hold'];
    for (const summary of summaries) expect(text).toContain(`"${summary}"`);
  });

  it('H1: shows an open pause in details, search attributes and status', async () => {
    const goal = goalOf(calls(['ask', { text: 'a' }], ['ask', { text: 'b' }]));
    const session = await pool.start(`goals-${mode}`, goal);
    const pauses = await until('it waits for both', async () => {
      const { pauses, phases } = await handleOf(session.id).query<{ pauses: { pause: string }[]; phases: object }>(
        'status',
      );
      return pauses.length === 2 && Object.values(phases).includes('waiting') && pauses;
    });
    const agent = `${session.id}/root-1`;
    const ask = { kind: 'approval', agent, tool: 'ask', accepts: ['approve', 'reject', 'edit'] };
    expect(pauses).toEqual([
      { ...ask, pause: expect.stringMatching(/^approval-/), call: '1.0' },
      { ...ask, pause: expect.stringMatching(/^approval-/), call: '1.1' },
    ]);
    const details = await detailsOf(session.id);
    expect(details).toContain(`**goals-${mode}** works on goal \`${bodyDigest(goal)}\``);
    expect(details).toContain(`\`${agent}\`: **waiting**`);
    expect(details).toContain('| 1 of 9 |');
    for (const { pause } of pauses) {
      for (const decision of ask.accepts) {
        expect(details).toContain(`\n${answerCommands(session.id, pause, decision).temporal}\n`);
      }
    }
    const typed = await until('it is found by what it waits for', async () => {
      const { typedSearchAttributes } = await handleOf(session.id).describe();
      return typedSearchAttributes.get(AWAITING)?.length === 1 && typedSearchAttributes;
    });
    expect(typed.get(AWAITING)).toEqual(['approval']);
    expect(typed.get(PHASE)).toBe('waiting');
    expect(typed.get(AGENT)).toBe(`goals-${mode}`);
    for (const { pause } of pauses) await session.answer(pause, { decision: 'approve' });
    await session.output();
    await handleOf(session.id).result();
    const ended = await handleOf(session.id).describe();
    expect(ended.typedSearchAttributes.get(PHASE)).toBe('completed');
    expect(ended.typedSearchAttributes.get(AWAITING) ?? []).toEqual([]);
    expect(await detailsOf(session.id)).toContain(`\`${agent}\`: **completed**`);
    const { lastSeq } = await session.view();
    expect(await handleOf(session.id).query('status')).toEqual({
      session: session.id,
      phases: { [agent]: 'completed' },
      pauses: [],
      jobs: [],
      lastSeq,
    });
  });
});
