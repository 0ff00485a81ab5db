import type { BodyRef, Envelope, Phase } from '../session/envelopes.ts';
import type { Auditor } from './audit.ts';
import type { PinStore, Publications, SkillRows } from './pins.ts';

/** Where a body lives: generations and tool results are `messages`, per-agent checkpoints `snapshots`, the rest `bodies`. */
export type BodyTable = 'bodies' | 'messages' | 'snapshots';

/** One body: canonical JSON text, kept once by (session, digest) within its table (L7). */
export interface BodyRow {
  readonly into: BodyTable;
  readonly session: string;
  readonly ref: BodyRef;
  readonly json: string;
}

/** An event at its place in the log (L2). */
export interface EventRow {
  readonly into: 'events';
  readonly envelope: Envelope;
}

/** A claim on driving one slice of an agent (W4). Unique by session, agent, resume, epoch and slice. */
export interface ClaimRow {
  readonly into: 'dispatches';
  readonly session: string;
  readonly agent: string;
  readonly resume: number;
  readonly epoch: number;
  readonly slice: number;
  /** Id of the worker that claims. */
  readonly worker: string;
  /** One try at running the slice (one activity execution); the same try may write its claim again. */
  readonly claimant: string;
}

/** What a worker that had lost its agent still brought back: shown to people, never served (E4). Kept once by `id`. */
export interface EvidenceRow {
  readonly into: 'effects';
  readonly id: string;
  readonly session: string;
  readonly agent: string;
  readonly call: string;
  readonly tool: string;
  readonly key: string;
  readonly epoch: number;
  readonly outcome: string;
  /** Canonical JSON of what the tool returned. */
  readonly json: string;
  readonly at: string;
}

/** The completed-session record (F6). Kept once by session. */
export interface CompletedRow {
  readonly into: 'completed';
  readonly session: string;
  readonly phase: Phase;
  readonly reason: string | null;
  readonly lastSeq: number;
  readonly at: string;
}

export type Row = BodyRow | EventRow | ClaimRow | EvidenceRow | CompletedRow;

/** The first event of a session, for lists. */
export interface SessionEntry {
  readonly session: string;
  readonly startedAt: string;
  /** Null while the session goes on, or where the completed record is lost. */
  readonly completed: Omit<CompletedRow, 'into' | 'session'> | null;
}

export interface SessionPage {
  readonly limit?: number;
  readonly before?: string | Pick<SessionEntry, 'startedAt' | 'session'>;
}

/** Writes in order, acknowledged by a majority and journaled (L5, L6). */
export interface Journal {
  /**
   * Writes rows in the order given, as one round trip where the store can. Stops at the first event or claim whose place is taken
   * by another, and returns how many leading rows are in place (`rows.length` when all are). Writing a body,
   * evidence or completed row again is a no-op.
   *
   * @throws {StoreUnknownError} when it cannot be known what was written (time-out, dropped connection, write-concern error):
   * read back to find out. Every prefix of the rows may be there.
   */
  write(rows: readonly Row[]): Promise<number>;
}

/** The append-only log of envelopes. Reads go to the primary at majority (L5) and fail closed (L8). */
export interface EventLog {
  /**
   * Envelopes from `from` (a seq, default 0) on, gapless, at most `limit` (default: all).
   *
   * @throws {LogUnreadableError} at the first row that is missing, altered or undecodable.
   */
  read(session: string, from?: number, limit?: number): Promise<Envelope[]>;
  /**
   * Sessions on the log, the newest first. `limit` defaults to 100. `before`: the entry to go on after, or a time that all
   * must have started before.
   */
  sessions(options?: SessionPage): Promise<SessionEntry[]>;
}

/** Bodies by reference. */
export interface StateStore {
  /**
   * The JSON texts of many bodies, in the order asked, each verified against its digest.
   *
   * @throws {BodyMissingError} naming the first that is missing or altered.
   */
  load(session: string, table: BodyTable, refs: readonly BodyRef[]): Promise<string[]>;
}

/** What late workers brought back. */
export interface EffectLog {
  evidence(session: string, key?: string): Promise<EvidenceRow[]>;
}

/** One worker process that has beaten at least once. */
export interface WorkerEntry {
  readonly worker: string;
  readonly taskQueue: string;
  readonly beatAt: string;
  /** Struck from dispatch until it has beaten again (W3). */
  readonly struck: boolean;
}

/** Which workers live, and who holds what (W3, W4). */
export interface WorkerRegistry {
  /** Says that the worker lives; clears a strike. */
  beat(worker: string, taskQueue: string): Promise<void>;
  strike(worker: string): Promise<void>;
  workers(): Promise<WorkerEntry[]>;
  /** The claims on an agent, in the order of (resume, epoch, slice). */
  claims(session: string, agent: string): Promise<ClaimRow[]>;
}

/** A session that the boot scan could not take up by itself, or that a person closed (R2). The latest word on a session counts. */
export interface RecoverableEntry {
  readonly session: string;
  readonly class: string;
  /** A sentence for people. */
  readonly why: string;
  /** When it was listed, as ISO 8601. */
  readonly at: string;
  /** Why it counts as closed by a person, where it is listed for something else by now. */
  readonly closed?: string;
  /** Set where a worker listed it that met it live; otherwise a scan did. */
  readonly by?: 'worker';
}

/** A part of what is in the order of session ids. */
export interface BySession {
  /** Default: all. */
  readonly limit?: number;
  /** The session to go on after. */
  readonly after?: string;
}

/** What a rebuild of the indexes went over. */
export interface RebuiltIndexes {
  /** Sessions on the log. */
  readonly sessions: number;
  /** Those of them that are over, with their completed record. */
  readonly completed: number;
  /** Those whose log cannot be read. */
  readonly unreadable: number;
}

/** What the boot scan walks, and what it leaves for people. */
export interface RecoveryIndex {
  /** Lists a session; replaces what was listed of it. */
  list(entry: RecoverableEntry): Promise<void>;
  /** Takes a session off the list. */
  unlist(session: string): Promise<void>;
  /** What is listed of a session, or null. */
  listed(session: string): Promise<RecoverableEntry | null>;
  /** All that is listed, by session. */
  allListed(options?: BySession): Promise<RecoverableEntry[]>;
  /**
   * Sessions on the log that have no completed record (F6), by session: fewer than `limit` only where there are no more. One that
   * has a record costs an index entry, and its log is not read.
   */
  unfinished(options: BySession & { readonly limit: number }): Promise<string[]>;
  /**
   * Derives from the logs what sessions are listed by and the completed records (F6), wherever these are missing or say
   * something else. Drops nothing, and may run at any time and more than once. Reads every log.
   */
  rebuildIndexes(): Promise<RebuiltIndexes>;
}

/** All that one database gives, behind the ports. */
export interface Stores
  extends Journal,
    EventLog,
    StateStore,
    EffectLog,
    PinStore,
    Publications,
    SkillRows,
    WorkerRegistry,
    RecoveryIndex,
    Auditor {
  /** Creates what is missing (collections, indexes) and checks that the store can keep the promises. Idempotent. */
  prepare(): Promise<void>;
  close(): Promise<void>;
  /** Where it is, without credentials, for messages: `mongodb://127.0.0.1:27017/apomesh` or `memory`. */
  readonly address: string;
}
