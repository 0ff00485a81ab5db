import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import { startTemporal, type TemporalService } from '../../src/services/temporal.ts';
import { closePools, type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const NODES = 12;

/** Effects by session, in the order they happened. */
const ran = new Map<string, string[]>();
const input = z.object({ text: z.string() });
const run = ({ text }: z.infer<typeof input>, { session }: { session: string }) => {
  ran.set(session, [...(ran.get(session) ?? []), text]);
  return text;
};
const tools = [
  defineTool({ name: 'note', description: 'Notes.', input, run }),
  defineTool({ name: 'ask', description: 'Asks.', input, approval: true, run }),
];

let dataDir = '';
let temporal: TemporalService;
let pool: Pool;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apomesh-continue-'));
  temporal = await startTemporal({
    dataDir,
    binDir: join(import.meta.dirname, '..', '..', '.apomesh'),
    extraArgs: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=24'],
    say: () => undefined,
  });
  const agents = modes.map((dispatch) =>
    defineAgent({ name: `goals-${dispatch}`, model: 'goals', instructions: '', tools: ['note', 'ask'], dispatch }),
  );
  const config = { models: { goals: goalModel().model }, tools, agents, limits: { sliceNodes: 1 } };
  pool = await startPool(config, { address: temporal.address });
});
afterAll(async () => {
  await closePools();
  await temporal.stop();
  await rm(dataDir, { recursive: true });
});

/** The runs of a session's workflow so far. */
async function runsOf({ id }: SessionHandle): Promise<readonly string[]> {
  const runs: string[] = [];
  for await (const { runId } of pool.client.workflow.list({ query: `WorkflowId = '${id}'` })) runs.push(runId);
  return runs;
}

async function expectWhole(session: SessionHandle): Promise<void> {
  const events = await session.events();
  const agents = new Set(events.map(({ agent }) => agent).filter((agent) => agent !== null));
  expect(agents).toEqual(new Set([`${session.id}/root-1`]));
  expect(events.map(({ type }) => type)).not.toContain('SessionResumed');
  expect(events.map(({ type }) => type)).not.toContain('AgentResuming');
  expect((await session.verify()).problems).toEqual([]);
}

describe.each(modes)('continue-as-new of a session driven by %s', (mode) => {
  it('C4: in the middle of an agent, which goes on under its name and without a resume', async () => {
    const texts = Array.from({ length: NODES }, (_, i) => `${i}`);
    const session = await pool.start(`goals-${mode}`, goalOf(...texts.map((text) => calls(['note', { text }]))));
    expect(await session.output()).toBe('done');
    await until('all its runs are listed', async () => (await runsOf(session)).length > 1);
    expect(ran.get(session.id)).toEqual(texts);
    const nodes = (await session.events()).flatMap(({ type, data }) =>
      type === 'GenerationCompleted' ? [data.node] : [],
    );
    expect(nodes).toEqual(Array.from({ length: NODES + 1 }, (_, i) => i + 1));
    await expectWhole(session);
  });

  it('C4: while pauses are open, whose answers still count', async () => {
    const goal = goalOf(calls(['ask', { text: 'a' }], ['ask', { text: 'b' }]));
    const session = await pool.start(`goals-${mode}`, goal);
    const [a, b] = await until('it waits', async () => {
      const pauses = await session.pauses();
      return pauses.length === 2 && pauses.map(({ pause }) => pause);
    });
    const first = pool.client.workflow.getHandle(session.id);
    const { runId } = await first.describe();
    await until('it goes on in another run', async () => {
      await first.signal('answer', { pause: 'none', decision: 'none' });
      return (await first.describe()).runId !== runId;
    });
    const status = await until('it waits there too', async () => {
      const status = await first.query<{ pauses: { pause: string }[]; phases: object }>('status');
      return Object.values(status.phases).includes('waiting') && status;
    });
    expect(status.pauses.map(({ pause }) => pause)).toEqual([a, b]);
    await session.answer(b ?? '', { decision: 'approve' });
    await session.answer(a ?? '', { decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect(ran.get(session.id)?.toSorted()).toEqual(['a', 'b']);
    const raised = (await session.events()).filter(({ type }) => type === 'PauseRaised');
    expect(raised).toHaveLength(2);
    await expectWhole(session);
  });

  it('C4: cancel reaches whatever run is current', async () => {
    const steps = Array.from({ length: NODES }, (_, i) => calls(['note', { text: `${i}` }]));
    const session = await pool.start(`goals-${mode}`, goalOf(...steps, calls(['ask', { text: 'a' }])));
    await until('it waits', async () => (await session.pauses()).length === 1);
    await session.cancel('enough');
    await expect(session.output()).rejects.toMatchObject({ fields: { phase: 'cancelled', detail: 'enough' } });
    expect((await session.events()).at(-2)?.data).toMatchObject({ decision: 'withdrawn' });
    await expectWhole(session);
  });
});
