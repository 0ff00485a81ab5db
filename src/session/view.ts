import type { BodyRef, Durability, EnvelopeOf, PauseKind, Phase, Pin, SnapshotSource } from './envelopes.ts';
import type { JsonObject } from './json.ts';

/** Tokens and money. */
export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** All that a resume needs to start (F4). */
export interface Bootstrap {
  readonly goal: string;
  /** AgentRef of the root agent. */
  readonly root: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly shape: JsonObject;
  readonly pin: Pin;
  readonly durability: Durability;
}

/** Where an agent's latest snapshot is (C1). */
export interface SnapshotPointer {
  readonly ordinal: number;
  readonly source: SnapshotSource;
  readonly node: number;
  readonly ref: BodyRef;
}

/** The coordinator's loop state (C3), opaque. */
export interface Checkpoint {
  /** Seq of the event that carries it. */
  readonly seq: number;
  readonly ordinal: number;
  readonly kind: string;
  readonly blob: string;
}

export interface AgentView {
  readonly ref: string;
  readonly role: string;
  readonly task: string | null;
  readonly parent: string | null;
  /** AgentRefs in the order of birth. */
  readonly children: readonly string[];
  readonly replaces: string | null;
  /** A resume went on without it: it was neither the root nor terminal at a SessionResumed. */
  readonly superseded: boolean;
  readonly phase: Phase;
  /** As resolved at its birth. */
  readonly config: JsonObject;
  readonly snapshot: SnapshotPointer | null;
  /** Number of its dispatch: the last AgentResuming's, 0 before any. */
  readonly epoch: number;
  /** A dispatch was lost, and the next has not reported yet. */
  readonly resuming: boolean;
  /** Why it ended, a code. */
  readonly reason: string | null;
  readonly output: BodyRef | null;
  /** Of its generations that were paid, not those served from a journal. */
  readonly usage: UsageTotals;
}

/** An async job in flight. */
export interface OpenJob {
  readonly job: string;
  readonly call: string;
  readonly tool: string;
  readonly agent: string | null;
}

/** A pause that waits for its answer. */
export interface OpenPauseView {
  readonly pause: string;
  readonly kind: PauseKind;
  readonly call: string | null;
  readonly accepts: readonly string[];
  readonly agent: string | null;
}

/** A session's state: the fold of its log (L1, F2). JSON. */
export interface SessionView {
  /** Empty before the first envelope. */
  readonly session: string;
  /** -1 before the first envelope. */
  readonly lastSeq: number;
  /** How often it was resumed. */
  readonly resumes: number;
  /** Null where the log has no SessionStarted. */
  readonly bootstrap: Bootstrap | null;
  /** AgentRef; null where none is known yet. */
  readonly root: string | null;
  /** By AgentRef, in the order of birth. */
  readonly agents: { readonly [ref: string]: AgentView };
  readonly checkpoint: Checkpoint | null;
  /** AgentRefs of those neither terminal nor superseded, the root apart, in the order of birth (F3). */
  readonly inFlight: readonly string[];
  /** In the order started. */
  readonly jobs: readonly OpenJob[];
  /** In the order raised. */
  readonly pauses: readonly OpenPauseView[];
  /** Keys of applied orchestrator tools in order, each once (E6). */
  readonly applied: readonly string[];
  /** Distinct effect keys started, and jobs started (E7). */
  readonly sideEffects: number;
  /** The root's phase is terminal (F3); `reason` and `output` are the root's too. */
  readonly terminal: boolean;
  readonly reason: string | null;
  readonly output: BodyRef | null;
  readonly usage: UsageTotals;
}

export const noUsage: UsageTotals = Object.freeze({ inputTokens: 0, outputTokens: 0, costUsd: 0 });

/** The view of a log without envelopes. */
export const empty: SessionView = Object.freeze({
  session: '',
  lastSeq: -1,
  resumes: 0,
  bootstrap: null,
  root: null,
  agents: Object.freeze({}),
  checkpoint: null,
  inFlight: Object.freeze([]),
  jobs: Object.freeze([]),
  pauses: Object.freeze([]),
  applied: Object.freeze([]),
  sideEffects: 0,
  terminal: false,
  reason: null,
  output: null,
  usage: noUsage,
});

/** The bootstrap that a SessionStarted gives. */
export function bootstrapOf({ data }: EnvelopeOf<'SessionStarted'>): Bootstrap {
  const { goal, root, namespace, taskQueue, shape, pin, durability } = data;
  return { goal, root, namespace, taskQueue, shape, pin, durability };
}
