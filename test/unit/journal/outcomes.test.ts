import { expect, it } from '@jest/globals';
import type { StoredCall, StoredGeneration } from '../../../src/agent/generation.ts';
import type { CallState } from '../../../src/agent/loop.ts';
import type { PinnedAgent } from '../../../src/agent/shape.ts';
import { AgentRun } from '../../../src/journal/agent-run.ts';
import { Outcomes } from '../../../src/journal/outcomes.ts';
import { draft, SessionLog } from '../../../src/journal/session-log.ts';
import type { Row, Stores } from '../../../src/ports/store.ts';
import { bodyDigest } from '../../../src/session/digest.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, ROOT, SESSION } from '../../support/logs.ts';

const callOf = (call: string): StoredCall => ({
  ...{ id: call, input: {}, call, tool: 'look', class: 'read', key: `sha256:${call}`, args: bodyDigest({}) },
  ...{ approval: false, taskQueue: null, timeoutMs: 0, problem: null },
});

async function dispatch(on: Stores): Promise<AgentRun> {
  const log = new SessionLog(SESSION, on);
  await log.catchUp();
  const id = { session: SESSION, agent: ROOT, resume: 0, epoch: 0, slice: 0 };
  const bodies = { load: on.load, keep: () => undefined };
  const run = new AgentRun({ bodies, log, id, pinned: {} as PinnedAgent, maxBodyBytes: 100_000 });
  await run.open();
  return run;
}

const settles = (rows: readonly Row[], call: string) =>
  rows.some(({ into, ...row }) => into === 'events' && JSON.stringify(row).includes(`"done/${ROOT}/${call}"`));

it('C1, E3: an outcome that could not be logged is missing from no snapshot: the node is not over', async () => {
  const stores = memoryStores();
  await stores.write(begun().rows.map((envelope) => ({ into: 'events', envelope })));
  const failing: Stores = {
    ...stores,
    write: (rows) => (settles(rows, '1.0') ? Promise.reject(new Error('disk full')) : stores.write(rows)),
  };
  const run = await dispatch(failing);
  const usage = { inputTokens: 1, outputTokens: 1 };
  const calls = [callOf('1.0'), callOf('1.1')];
  const stored: StoredGeneration = {
    ...{ v: 1, node: 1, content: [], finish: 'tool-calls', usage, calls, misfit: null, answer: null },
  };
  const row = run.row('messages', 'generation', stored);
  const data = { node: 1, model: 'm', finish: 'tool-calls', usage, served: 'fresh', ref: row.ref } as const;
  await run.append([row, draft('GenerationCompleted', ROOT, `gen/${ROOT}/0.0/1`, data)]);
  const outcomes = new Outcomes({ run, stores: failing, log: () => undefined });
  const [first, second] = run.state.calls as readonly [CallState, CallState];
  await expect(outcomes.complete(first, 'ok', 1)).rejects.toThrow('disk full');
  await outcomes.complete(second, 'ok', 2);
  const next = await dispatch(stores);
  expect(next.state.calls).toMatchObject([
    { call: '1.0', outcome: null },
    { call: '1.1', outcome: 'ok' },
  ]);
});
