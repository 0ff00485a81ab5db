import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredCall, StoredGeneration } from '../../../src/agent/generation.ts';
import type { CallState } from '../../../src/agent/loop.ts';
import type { PinnedAgent } from '../../../src/agent/shape.ts';
import { AgentRun } from '../../../src/journal/agent-run.ts';
import { Calls } from '../../../src/journal/calls.ts';
import { draft, SessionLog } from '../../../src/journal/session-log.ts';
import type { Row, Stores } from '../../../src/ports/store.ts';
import { bodyDigest, bodyOf } from '../../../src/session/digest.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, ROOT, SESSION } from '../../support/logs.ts';

const usage = { inputTokens: 1, outputTokens: 1 };

const call: StoredCall = {
  ...{ id: 'c', input: {}, call: '1.0', tool: 'checkpoint_now', class: 'orchestrator', key: 'sha256:k' },
  ...{ args: bodyDigest({}), approval: false, taskQueue: null, timeoutMs: 0, problem: null },
};

let stores: Stores;
beforeEach(async () => {
  stores = memoryStores();
  await stores.write(begun().rows.map((envelope) => ({ into: 'events', envelope })));
});

/** The agent under a dispatch that knows what the log says, and no more. */
async function dispatch(on: Stores, epoch = 0): Promise<{ run: AgentRun; calls: Calls }> {
  const log = new SessionLog(SESSION, on);
  await log.catchUp();
  const bodies = { load: on.load, keep: () => undefined };
  const id = { session: SESSION, agent: ROOT, resume: 0, epoch, slice: epoch };
  const run = new AgentRun({ bodies, log, id, pinned: {} as PinnedAgent, maxBodyBytes: 100_000 });
  await run.open();
  const never = new AbortController().signal;
  const leaving = { released: never, drained: never };
  const calls = new Calls({
    run,
    stores: on,
    tool: () => null,
    skill: () => Promise.reject(new Error('it has no skills')),
    signal: never,
    cancelled: () => false,
    leaving,
    graceMs: 0,
    log: () => undefined,
  });
  return { run, calls };
}

const generate = async (run: AgentRun) => {
  const stored: StoredGeneration = {
    ...{ v: 1, node: 1, content: [], finish: 'tool-calls', usage, calls: [call], misfit: null, answer: null },
  };
  const row = run.row('messages', 'generation', stored);
  const data = { node: 1, model: 'm', finish: 'tool-calls', usage, served: 'fresh', ref: row.ref } as const;
  await run.append([row, draft('GenerationCompleted', ROOT, `gen/${ROOT}/0.0/1`, data)]);
};

const settle = ({ run, calls }: { run: AgentRun; calls: Calls }) => calls.settle(run.state.calls[0] as CallState);
const types = async () => (await stores.read(SESSION)).slice(2).map(({ type }) => type);
const whole = ['GenerationCompleted', 'AgentSnapshot', 'Applied', 'ToolCallCompleted', 'AgentSnapshot'];

/** A store whose worker dies when so many events of the write that settles the call are in place. */
const dyingAfter = (events: number): Stores => ({
  ...stores,
  write: async (rows) => {
    if (!rows.some((row) => row.into === 'events' && row.envelope.type === 'ToolCallCompleted'))
      return stores.write(rows);
    const kept: Row[] = [];
    for (const row of rows) {
      if (row.into === 'events' && kept.filter(({ into }) => into === 'events').length === events) break;
      kept.push(row);
    }
    await stores.write(kept);
    throw new Error('the worker is lost');
  },
});

describe('an orchestrator tool', () => {
  it.each([0, 1, 2, 3])('E6: is applied once, though its worker is lost after %i events of it', async (events) => {
    const lost = await dispatch(dyingAfter(events));
    await generate(lost.run);
    await expect(settle(lost)).rejects.toThrow('lost');
    expect(await types()).toEqual(whole.slice(0, 1 + events));
    const next = await dispatch(stores);
    if (events < 3) await settle(next);
    expect(await types()).toEqual(events < 3 ? whole : whole.slice(0, -1));
    const log = await stores.read(SESSION);
    const [applied, done] = ['Applied', 'ToolCallCompleted'].map((type) => log.find((event) => event.type === type));
    expect((applied as Extract<Envelope, { type: 'Applied' }>).data).toEqual({
      op: 'checkpoint.now',
      key: call.key,
      snapshot: 1,
    });
    const { ref } = (done as Extract<Envelope, { type: 'ToolCallCompleted' }>).data;
    expect(ref).toEqual(bodyOf({ snapshot: 1 }).ref);
    const { run } = await dispatch(stores);
    expect(run.state).toMatchObject({ node: 1, calls: [] });
  });

  it('E6: takes what is recorded under its key, whoever applied it', async () => {
    const { run, calls } = await dispatch(stores);
    await generate(run);
    await run.append([draft('Applied', ROOT, 'another', { op: 'checkpoint.now', key: call.key, snapshot: 7 })]);
    await settle({ run, calls });
    expect(await types()).toEqual(['GenerationCompleted', 'Applied', 'ToolCallCompleted', 'AgentSnapshot']);
    expect(run.transcript.messages.at(-1)?.ref).toEqual(bodyOf({ snapshot: 7 }).ref);
  });
});
