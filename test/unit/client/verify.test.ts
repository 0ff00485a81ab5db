import { describe, expect, it } from '@jest/globals';
import { verifySession } from '../../../src/client/verify.ts';
import {
  BodyMissingError,
  LogUnreadableError,
  PinCorruptError,
  SessionNotFoundError,
} from '../../../src/contract/errors.ts';
import { pinAgent } from '../../../src/pins/resolve.ts';
import type { Stores } from '../../../src/ports/store.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { LogWriter, ROOT, ref, SESSION } from '../../support/logs.ts';
import { writeBody, writeLog } from '../../support/written.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const resolved = pinAgent(
  {
    name: 'triage',
    version: '1.0.0',
    model: 'm',
    instructions: 'Triage.',
    tools: [],
    budget: { maxSteps: null, maxTokens: null, maxCostUsd: null, maxToolCalls: null, deadlineMs: null },
    durability: 'checkpointed',
    output: null,
    dispatch: 'loop',
  },
  [],
);

interface Made {
  readonly stores: Stores;
  readonly log: LogWriter;
}

/** A session with one node: a generation, an effect, a snapshot. Not written yet, its bodies are. */
async function made({ pin = true } = {}): Promise<Made> {
  const stores = memoryStores();
  if (pin) await stores.write([resolved.pin]);
  const instructions = await writeBody(stores, SESSION, 'bodies', 'Triage.');
  const generation = await writeBody(stores, SESSION, 'messages', { text: 'save' });
  const result = await writeBody(stores, SESSION, 'messages', 'saved');
  const snapshot = await writeBody(stores, SESSION, 'snapshots', { node: 1 });
  const log = new LogWriter()
    .add('SessionStarted', ROOT, {
      goal: 'g',
      root: ROOT,
      namespace: 'default',
      taskQueue: 'apomesh',
      shape: {},
      pin: { kind: 'catalog', digest: resolved.pin.ref.digest },
      durability: 'checkpointed',
    })
    .add('AgentLifecycle', ROOT, {
      phase: 'born',
      parent: null,
      role: 'root',
      task: null,
      config: { instructions: { ...instructions } },
      replaces: null,
    })
    .add('GenerationCompleted', ROOT, {
      node: 1,
      model: 'm',
      finish: 'stop',
      usage: {},
      served: 'fresh',
      ref: generation,
    })
    .add('ToolCallStarted', ROOT, { call: '1.0', tool: 'save', class: 'effect', key: KEY })
    .add('ToolCallCompleted', ROOT, {
      call: '1.0',
      tool: 'save',
      class: 'effect',
      key: KEY,
      outcome: 'ok',
      served: 'fresh',
      ref: result,
    })
    .add('AgentSnapshot', ROOT, { ordinal: 1, source: 'node', node: 1, ref: snapshot });
  return { stores, log };
}

async function written({ stores, log }: Made, rows: readonly Envelope[] = log.rows) {
  await writeLog(stores, rows);
  return verifySession(stores, SESSION);
}

/** With other methods in place of the store's. */
const changed = (stores: Stores, change: Partial<Stores>): Stores => ({ ...stores, ...change });

describe('verifySession', () => {
  it('finds a sound session sound, and counts', async () => {
    expect(await written(await made())).toEqual({
      session: SESSION,
      ok: true,
      problems: [],
      events: 6,
      bodies: 4,
      effects: { intents: 1, outcomes: 1, duplicates: 0, open: 0 },
    });
  });

  it('refuses a session that is not there', async () => {
    await expect(verifySession(memoryStores(), SESSION)).rejects.toThrow(SessionNotFoundError);
  });

  it.each([
    ['GenerationCompleted', { node: 2, model: 'm', finish: 'stop', usage: {}, served: 'fresh', ref: ref(9) }],
    ['AgentSnapshot', { ordinal: 2, source: 'node', node: 2, ref: ref(9) }],
    ['AgentLifecycle', { phase: 'failed', detail: ref(9) }],
    ['PauseRaised', { pause: 'p', kind: 'approval', accepts: ['approve'], ref: ref(9) }],
  ] as const)('L4: finds the missing body of %s', async (type, data) => {
    const session = await made();
    session.log.add(type, ROOT, data as never);
    const { ok, problems } = await written(session);
    expect(ok).toBe(false);
    expect(problems).toEqual([{ seq: 6, code: 'BODY_MISSING', message: expect.stringContaining(ref(9).digest) }]);
  });

  it('L4: finds every body that is altered, among those that are not', async () => {
    const session = await made();
    await writeLog(session.stores, session.log.rows);
    const load: Stores['load'] = async (id, table, refs) => {
      if (table === 'messages') throw new BodyMissingError(id, table, refs[0]?.digest ?? '', 'altered');
      return session.stores.load(id, table, refs);
    };
    const { problems } = await verifySession(changed(session.stores, { load }), SESSION);
    expect(problems.map(({ seq, code }) => [seq, code])).toEqual([
      [2, 'BODY_MISSING'],
      [4, 'BODY_MISSING'],
    ]);
  });

  it('P4: finds a pin that is missing, and one that is altered', async () => {
    expect((await written(await made({ pin: false }))).problems).toMatchObject([{ seq: 0, code: 'PIN_CORRUPT' }]);
    const session = await made();
    await writeLog(session.stores, session.log.rows);
    const pin = async (digest: string) => Promise.reject(new PinCorruptError(digest, 'altered'));
    expect((await verifySession(changed(session.stores, { pin }), SESSION)).problems).toMatchObject([
      { seq: 0, code: 'PIN_CORRUPT' },
    ]);
  });

  it('L8: names the row that cannot be read, and goes on with those before it', async () => {
    const session = await made({ pin: false });
    await writeLog(session.stores, session.log.rows);
    const read: Stores['read'] = async (id, from = 0, limit) => {
      if (from + (limit ?? 100) > 3) throw new LogUnreadableError(id, 3, 'altered');
      return session.stores.read(id, from, limit);
    };
    const { problems, events } = await verifySession(changed(session.stores, { read }), SESSION);
    expect(problems.map(({ seq, code }) => [seq, code])).toEqual([
      [3, 'LOG_UNREADABLE'],
      [0, 'PIN_CORRUPT'],
    ]);
    expect(events).toBe(3);
  });

  it('L8: finds a contradiction', async () => {
    const session = await made();
    session.log.add('AgentResumed', ROOT, { epoch: 3 });
    expect((await written(session)).problems).toMatchObject([{ seq: 6, code: 'LOG_UNREADABLE' }]);
  });

  const effect = { call: '2.0', tool: 'save', class: 'effect', key: KEY } as const;
  const other = { ...effect, key: `sha256:${'b'.repeat(64)}` };
  it.each([
    ['a second outcome of a key', 'ToolCallCompleted', { ...effect, outcome: 'ok', served: 'fresh' }],
    ['an outcome without an intent', 'ToolCallCompleted', { ...other, outcome: 'ok', served: 'fresh' }],
    ['an effect served from nowhere', 'ToolCallCompleted', { ...other, outcome: 'ok', served: 'journal' }],
    ['an effect begun after its outcome', 'ToolCallStarted', effect],
  ] as const)('E3: finds %s', async (_what, type, data) => {
    const session = await made();
    const result = await writeBody(session.stores, SESSION, 'messages', 'saved');
    session.log.add(type, ROOT, { ...data, ...(type === 'ToolCallCompleted' && { ref: result }) } as never);
    expect((await written(session)).problems).toMatchObject([{ seq: 6, code: 'JOURNAL_INCONSISTENT' }]);
  });

  it.each(['denied', 'error'] as const)(
    'E3: takes an effect that did not run (%s), and one that is served again',
    async (outcome) => {
      const session = await made();
      const result = await writeBody(session.stores, SESSION, 'messages', 'saved');
      session.log
        .add('ToolCallCompleted', ROOT, { ...other, outcome, served: 'fresh', ref: result })
        .add('ToolCallCompleted', ROOT, { ...effect, outcome: 'ok', served: 'journal', ref: result });
      expect((await written(session)).problems).toEqual([]);
    },
  );

  it('E4: counts an effect in doubt as open, which is no fault', async () => {
    const session = await made();
    session.log.add('ToolCallStarted', ROOT, other);
    expect(await written(session)).toMatchObject({ ok: true, effects: { intents: 2, outcomes: 1, open: 1 } });
  });
});
