import { beforeEach, describe, expect, it } from '@jest/globals';
import { begin } from '../../../activities/begin.ts';
import type { Engine } from '../../../activities/engine.ts';
import { Sessions } from '../../../activities/sessions.ts';
import type { PinnedAgent } from '../../../src/agent/shape.ts';
import { ClaimTakenError, FencedError } from '../../../src/contract/errors.ts';
import type { AgentRun } from '../../../src/journal/agent-run.ts';
import { draft } from '../../../src/journal/session-log.ts';
import type { Row, Stores } from '../../../src/ports/store.ts';
import { bodyOf } from '../../../src/session/digest.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { envelope, ROOT, SESSION } from '../../support/logs.ts';

const pinned: PinnedAgent = {
  v: 2,
  name: 'a',
  version: '1.0.0',
  model: 'm',
  instructions: '',
  tools: [],
  budget: { maxSteps: null, maxTokens: null, maxCostUsd: null, maxToolCalls: null, deadlineMs: null },
  output: null,
  dispatch: 'loop',
  skills: [],
  skillList: '',
  durability: 'checkpointed',
  coordination: { kind: 'solo', params: {} },
  roles: {},
};

/** A worker with a memory of its own. */
const workerOn = (stores: Stores, worker: string): Engine =>
  ({
    stores,
    sessions: new Sessions(stores),
    tools: { tool: () => null },
    limits: { maxBodyBytes: 100_000 },
    worker,
    alive: async () => undefined,
  }) as unknown as Engine;

let stores: Stores;
beforeEach(async () => {
  stores = memoryStores();
  const pin = bodyOf(pinned);
  const started = envelope(0, 'SessionStarted', ROOT, {
    goal: 'g',
    root: ROOT,
    namespace: 'default',
    taskQueue: 'apomesh',
    shape: {},
    pin: { kind: 'catalog', digest: pin.ref.digest },
    durability: 'checkpointed',
  });
  await stores.keep([{ into: 'pins', ...pin }]);
  await stores.write([{ into: 'events', envelope: started }]);
});

async function beginOn(engine: Engine, epoch: number, lost: boolean, slice = epoch): Promise<AgentRun> {
  const id = { session: SESSION, agent: ROOT, resume: 0, epoch, slice };
  const begun = await begin(
    engine,
    { ...id, lost },
    { run: engine.worker, activity: String(epoch) },
    () => [],
    () => [],
  );
  if (begun === null) throw new Error('it is fenced');
  return begun.run;
}

const generate = (run: AgentRun) => {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const stored = { v: 1, node: 1, content: [], finish: 'stop', usage, calls: [], misfit: 'no', answer: null };
  const row = run.row('messages', 'generation', stored);
  const { epoch } = run.id;
  const data = { node: 1, model: 'm', finish: 'stop', usage, served: 'fresh', ref: row.ref } as const;
  return run.append([row, draft('GenerationCompleted', ROOT, `gen/${ROOT}/0.${epoch}/1`, data)]);
};

describe('a dispatch after a lost one', () => {
  it('W4: raises the fence even where the one that was to do so failed before it did', async () => {
    const lost = await beginOn(workerOn(stores, 'one'), 0, false);
    await beginOn(workerOn(stores, 'two'), 1, false);
    await expect(generate(lost)).rejects.toThrow(FencedError);
    expect((await stores.read(SESSION)).map(({ type }) => type)).toContain('AgentResuming');
  });

  it('W4: does not drive beside another run that raised the very same fence', async () => {
    const first = await beginOn(workerOn(stores, 'one'), 1, true, 3);
    await expect(beginOn(workerOn(stores, 'two'), 1, true, 1)).rejects.toThrow(ClaimTakenError);
    await beginOn(workerOn(stores, 'two'), 2, true, 2);
    await expect(generate(first)).rejects.toThrow(FencedError);
  });

  it('W4: drives beside another of its own run, as calls side by side do', async () => {
    await beginOn(workerOn(stores, 'one'), 1, true, 3);
    await expect(beginOn(workerOn(stores, 'one'), 1, true, 4)).resolves.toBeDefined();
  });

  it('W3, E5: goes on from what the lost one logs until the fence is up', async () => {
    const lost = await beginOn(workerOn(stores, 'one'), 0, false);
    let isLate = false;
    const write = async (rows: readonly Row[]) => {
      const fences = rows.some((row) => row.into === 'events' && row.envelope.type === 'AgentResuming');
      if (fences && !isLate) {
        isLate = true;
        await generate(lost);
      }
      return stores.write(rows);
    };
    const run = await beginOn(workerOn({ ...stores, write }, 'two'), 1, true);
    expect(isLate).toBe(true);
    expect(run.state.node).toBe(1);
  });
});
