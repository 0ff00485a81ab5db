import { describe, expect, it } from '@jest/globals';
import { verifySession } from '../../../src/client/verify.ts';
import { PinCorruptError, SessionNotFoundError } from '../../../src/contract/errors.ts';
import type { CompletedRow, Stores } from '../../../src/ports/store.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { LogWriter, ROOT, ref, SESSION } from '../../support/logs.ts';
import { sealedOf } from '../../support/sealing.ts';
import { writeBody, writeLog } from '../../support/written.ts';

const KEY = `sha256:${'a'.repeat(64)}`;
const resolved = sealedOf();

interface Made {
  readonly stores: Stores;
  readonly log: LogWriter;
}

/** A session with one node: a generation, an effect, a snapshot. Not written yet, its bodies are. */
async function made({ pin = true } = {}): Promise<Made> {
  const stores = memoryStores();
  if (pin) await stores.keep([resolved.pin]);
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
      isEndKnown: false,
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
    const bodyFaults: Stores['bodyFaults'] = async (id, table, refs) =>
      table === 'messages' ? refs.map(() => 'altered') : session.stores.bodyFaults(id, table, refs);
    const { problems } = await verifySession(changed(session.stores, { bodyFaults }), SESSION);
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

  it('L8: names each row that cannot be read, and goes on with those after it', async () => {
    const session = await made({ pin: false });
    session.log.add('GenerationCompleted', ROOT, {
      node: 2,
      model: 'm',
      finish: 'stop',
      usage: {},
      served: 'fresh',
      ref: ref(9),
    });
    const rows = session.log.rows.filter(({ seq }) => seq !== 1 && seq !== 3);
    const { problems, events } = await written(session, rows);
    expect(problems).toEqual([
      { seq: 1, code: 'LOG_UNREADABLE', message: expect.stringContaining('missing') },
      { seq: 3, code: 'LOG_UNREADABLE', message: expect.stringContaining('missing') },
      { seq: 6, code: 'BODY_MISSING', message: expect.stringContaining(ref(9).digest) },
      { seq: 0, code: 'PIN_CORRUPT', message: expect.any(String) },
    ]);
    expect(events).toBe(5);
  });

  it('L8: finds a log that is shorter than its record or Temporal knows', async () => {
    const record = { phase: 'completed', reason: null, lastSeq: 6, at: 'then' } as const;
    const session = await made();
    await writeLog(session.stores, session.log.rows);
    await expect(verifySession(session.stores, 's-3', { lastSeq: null, isOver: true })).resolves.toMatchObject({
      ok: false,
    });
    const short = { seq: 6, code: 'LOG_UNREADABLE', message: expect.stringContaining('seq 5') };
    expect((await verifySession(session.stores, SESSION, { lastSeq: 5, isOver: false })).problems).toEqual([]);
    for (const witness of [
      { lastSeq: 6, isOver: false },
      { lastSeq: null, isOver: true },
    ])
      expect((await verifySession(session.stores, SESSION, witness)).problems).toEqual([short]);
    await session.stores.write([{ into: 'completed', session: SESSION, ...record }]);
    expect((await verifySession(session.stores, SESSION)).problems).toEqual([short]);
    await session.stores.write([{ into: 'completed', session: 's-2', ...record }]);
    expect((await verifySession(session.stores, 's-2')).problems).toEqual([
      { seq: 0, code: 'LOG_UNREADABLE', message: expect.stringContaining('nothing of it is there') },
    ]);
  });

  it('F6: finds a record that says something else than the log', async () => {
    const end = { phase: 'completed', reason: null, lastSeq: 6 } as const;
    const wrong: Partial<CompletedRow>[] = [
      { phase: 'failed' },
      { reason: 'x' },
      { lastSeq: 9 },
      { lastSeq: 5 },
      { at: 'then' },
    ];
    for (const change of [{}, ...wrong]) {
      const session = await made();
      session.log.add('AgentLifecycle', ROOT, { phase: 'completed' });
      const at = session.log.rows.at(-1)?.at ?? '';
      await session.stores.write([{ into: 'completed', session: SESSION, ...end, at, ...change }]);
      const found = Object.keys(change).map((name) => ({
        seq: null,
        code: 'INDEX_INCONSISTENT',
        message: expect.stringContaining(`another ${name} than`),
      }));
      expect((await written(session)).problems).toEqual(found);
    }
    const over = await made();
    over.log.add('AgentLifecycle', ROOT, { phase: 'completed' });
    expect(await written(over)).toMatchObject({ ok: true, isEndKnown: true });
    const going = await made();
    await going.stores.write([{ into: 'completed', session: SESSION, ...end, lastSeq: 5, at: 'then' }]);
    expect((await written(going)).problems).toMatchObject([{ seq: null, code: 'INDEX_INCONSISTENT' }]);
  });

  it('W4: finds that a dispatch which logged something has no claim', async () => {
    const session = await made();
    const writer = { resume: 0, epoch: 0 };
    const rows = session.log.rows.map((row) => ({ ...row, writer }) as Envelope);
    expect((await written(session, rows)).problems).toMatchObject([{ seq: 2, code: 'ROW_ALTERED' }]);
    const slice = { agent: ROOT, ...writer, slice: 0, worker: 'w', claimant: 'c' };
    await session.stores.write([{ into: 'dispatches', session: SESSION, ...slice }]);
    expect((await verifySession(session.stores, SESSION)).problems).toEqual([]);
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
