import { type Envelope, isTerminalPhase } from '../../src/session/envelopes.ts';
import { begun, insert, LogWriter as Log, type LogWriter, ROOT, ref, SESSION } from './logs.ts';

export interface Broken {
  readonly rows: Envelope[];
  /** Where the log stops making sense. */
  readonly seq: number;
}

/** Breaks a valid log at a place (1 or above, at most its length). */
export type Break = (log: readonly Envelope[], at: number) => Broken;

/** Rows put in at a place, all of them fine but the last. */
const putIn =
  (write: (log: LogWriter) => unknown): Break =>
  (log, at) => {
    const writer = new Log();
    write(writer);
    return { rows: insert(log, at, writer.rows), seq: at + writer.rows.length - 1 };
  };

const X = `${SESSION}/extra-999`;

/** What each contradiction looks like. Every place is taken to be after the root's birth and before its end. */
export const breaks: Readonly<Record<string, Break>> = {
  'a first seq other than 0': (log) => ({ rows: log.map((row) => ({ ...row, seq: row.seq + 1 })), seq: 0 }),
  'a gap': (log, at) => ({ rows: log.filter(({ seq }) => seq !== at - 1).concat(putLast(log)), seq: at - 1 }),
  'a row twice': (log, at) => ({ rows: [...log.slice(0, at), ...log.slice(at - 1)], seq: at }),
  'two rows swapped': (log, at) => {
    const rows = putLast(log, log);
    const [a, b] = [rows[at - 1] as Envelope, rows[at] as Envelope];
    return { rows: [...rows.slice(0, at - 1), b, a, ...rows.slice(at + 1)], seq: at - 1 };
  },
  "another session's row": (log, at) => {
    const rows = putLast(log, log);
    return { rows: rows.map((row) => (row.seq === at ? { ...row, session: 's-2' } : row)), seq: at };
  },
  'an unknown version': (log, at) => {
    const rows = putLast(log, log);
    return { rows: rows.map((row) => (row.seq === at ? ({ ...row, v: 2 } as unknown as Envelope) : row)), seq: at };
  },
  'an unknown type': (log, at) => {
    const [row] = new Log().add('RuntimeEvicted', ROOT, { era: 1 }).rows;
    return { rows: insert(log, at, [{ ...row, type: 'SessionEnded' } as unknown as Envelope]), seq: at };
  },
  'a second SessionStarted': putIn((log) => log.start()),
  'an agent before its birth': putIn((log) => log.add('RuntimeEvicted', X, { era: 1 })),
  'a phase before birth': putIn((log) => log.add('AgentLifecycle', X, { phase: 'running' })),
  'an end before birth': putIn((log) => log.add('AgentLifecycle', X, { phase: 'completed' })),
  'a resume by an agent before its birth': putIn((log) =>
    log.add('SessionResumed', X, { resume: 1, cause: 'operator', checkpoint: null, effects: 'reuse' }),
  ),
  'a second birth': putIn((log) => log.born(X, ROOT).born(X, ROOT)),
  'a second birth of the root': putIn((log) => log.born(ROOT, null)),
  'a birth under an unknown parent': putIn((log) => log.born(X, `${SESSION}/nobody-7`)),
  'a birth under itself': putIn((log) => log.born(X, X)),
  'a phase after a terminal one': putIn((log) =>
    log.born(X, ROOT).add('AgentLifecycle', X, { phase: 'failed' }).add('AgentLifecycle', X, { phase: 'running' }),
  ),
  'a terminal phase after a terminal one': putIn((log) =>
    log.born(X, ROOT).add('AgentLifecycle', X, { phase: 'failed' }).add('AgentLifecycle', X, { phase: 'failed' }),
  ),
  'a birth after a terminal phase': putIn((log) =>
    log.born(X, ROOT).add('AgentLifecycle', X, { phase: 'failed' }).born(X, ROOT),
  ),
  'a resume out of count': putIn((log) =>
    log.add('SessionResumed', null, { resume: 900, cause: 'boot-scan', checkpoint: null, effects: 'reuse' }),
  ),
  'AgentResumed without AgentResuming': putIn((log) => log.born(X, ROOT).add('AgentResumed', X, { epoch: 1 })),
  'AgentResumed of another epoch': putIn((log) =>
    log.born(X, ROOT).add('AgentResuming', X, { epoch: 2, snapshot: null }).add('AgentResumed', X, { epoch: 1 }),
  ),
  'AgentResumed twice': putIn((log) =>
    log
      .born(X, ROOT)
      .add('AgentResuming', X, { epoch: 2, snapshot: null })
      .add('AgentResumed', X, { epoch: 2 })
      .add('AgentResumed', X, { epoch: 2 }),
  ),
  'AgentResumed after the end': putIn((log) =>
    log
      .born(X, ROOT)
      .add('AgentResuming', X, { epoch: 2, snapshot: null })
      .add('AgentLifecycle', X, { phase: 'cancelled' })
      .add('AgentResumed', X, { epoch: 2 }),
  ),
  'an epoch that stands still': putIn((log) =>
    log
      .born(X, ROOT)
      .add('AgentResuming', X, { epoch: 2, snapshot: null })
      .add('AgentResuming', X, { epoch: 2, snapshot: null }),
  ),
  'an epoch that shrinks': putIn((log) =>
    log
      .born(X, ROOT)
      .add('AgentResuming', X, { epoch: 2, snapshot: null })
      .add('AgentResuming', X, { epoch: 1, snapshot: null }),
  ),
  'a checkpoint ordinal that stands still': putIn((log) =>
    log
      .add('CoordinatorCheckpoint', null, { ordinal: 9_000, kind: 'solo', blob: '' })
      .add('CoordinatorCheckpoint', null, { ordinal: 9_000, kind: 'solo', blob: '' }),
  ),
  'a checkpoint ordinal that shrinks': putIn((log) =>
    log
      .add('CoordinatorCheckpoint', null, { ordinal: 9_000, kind: 'solo', blob: '' })
      .add('CoordinatorCheckpoint', null, { ordinal: 8_999, kind: 'solo', blob: '' }),
  ),
  'a pause raised while open': putIn((log) =>
    log
      .add('PauseRaised', ROOT, { pause: 'px', kind: 'question', accepts: ['answer'] })
      .add('PauseRaised', ROOT, { pause: 'px', kind: 'question', accepts: ['answer'] }),
  ),
  'an answer to no pause': putIn((log) => log.add('PauseAnswered', null, { pause: 'px', decision: 'approve' })),
  'a second answer': putIn((log) =>
    log
      .add('PauseRaised', ROOT, { pause: 'px', kind: 'question', accepts: ['answer'] })
      .add('PauseAnswered', null, { pause: 'px', decision: 'answer' })
      .add('PauseAnswered', null, { pause: 'px', decision: 'answer' }),
  ),
  'a finish of no job': putIn((log) => log.add('JobFinished', null, { job: 'jx', outcome: 'ok', ref: ref(1) })),
  'a second finish': putIn((log) =>
    log
      .add('JobStarted', ROOT, { job: 'jx', call: 'c', tool: 't' })
      .add('JobFinished', null, { job: 'jx', outcome: 'ok' })
      .add('JobFinished', null, { job: 'jx', outcome: 'ok' }),
  ),
  'a job started while open': putIn((log) =>
    log
      .add('JobStarted', ROOT, { job: 'jx', call: 'c', tool: 't' })
      .add('JobStarted', ROOT, { job: 'jx', call: 'c', tool: 't' }),
  ),
  'a resume after the end': afterEnd((log) =>
    log.add('SessionResumed', null, { resume: 1, cause: 'operator', checkpoint: null, effects: 'reuse' }),
  ),
  'anything after the end': afterEnd((log) => log.add('AnswerRefused', null, { pause: 'p', why: 'unknown' })),
};

/** A row put after the root's end. */
function afterEnd(write: (log: LogWriter) => unknown): Break {
  return (log) => {
    const ended = log.some(
      ({ agent, type, data }) => agent === ROOT && type === 'AgentLifecycle' && isTerminalPhase(data.phase),
    );
    const writer = new Log();
    if (!ended) writer.add('AgentLifecycle', ROOT, { phase: 'completed' });
    write(writer);
    const rows = insert(log, log.length, writer.rows);
    return { rows, seq: rows.length - 1 };
  };
}

/** A harmless last row, so that there is one after every place. */
function putLast(log: readonly Envelope[], before: readonly Envelope[] = []): Envelope[] {
  const row = begun().add('RuntimeEvicted', ROOT, { era: 1 }).rows[2] as Envelope;
  return [...before, { ...row, seq: log.length, id: `e${log.length}` }];
}
