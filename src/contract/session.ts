import type { DispatchMode } from '../agent/agent.ts';
import type { Spent } from '../agent/budget.ts';
import type { LoopState } from '../agent/loop.ts';
import type { ResolvedBudget } from '../agent/shape.ts';
import type { BodyRef, PauseKind, Phase, TerminalPhase } from '../session/envelopes.ts';
import type { Json } from '../session/json.ts';
import type { Resuming } from './recovery.ts';

export const SESSION_WORKFLOW = 'apomeshSession';
export const DEFAULT_TASK_QUEUE = 'apomesh';

/** The largest answer that may travel through Temporal, and the largest goal, in bytes of canonical JSON (L3, L7). */
export const MAX_INLINE_BYTES = 64 * 1024;

/** Names of what a session workflow answers to. */
export const ANSWER = 'answer';
export const CANCEL = 'cancel';
export const STATUS = 'status';

/** An answer to a pause: signal and update `answer`, client and command line (H1). */
export interface Answer {
  readonly pause: string;
  readonly decision: string;
  /** Who answers. */
  readonly by?: string | undefined;
  /** Why: with `reject` (the agent sees it) and `fail`. */
  readonly reason?: string | undefined;
  /** New arguments: with `edit`. */
  readonly args?: Json | undefined;
  /** The answer to a question. */
  readonly text?: string | undefined;
  /** What the effect gave: with `happened`. */
  readonly result?: Json | undefined;
}

export interface CancelRequest {
  readonly reason?: string | undefined;
}

/** An open pause as the workflow knows it: no bodies (L7). */
export interface OpenPause {
  readonly pause: string;
  readonly kind: PauseKind;
  readonly agent: string;
  readonly call: string | null;
  readonly tool: string | null;
  readonly accepts: readonly string[];
}

/** What the query `status` gives. */
export interface SessionStatus {
  readonly session: string;
  readonly phases: Readonly<Record<string, Phase>>;
  readonly pauses: readonly OpenPause[];
  readonly jobs: readonly string[];
  readonly lastSeq: number;
}

/** What a session workflow returns. */
export interface SessionResult {
  readonly phase: TerminalPhase;
  readonly reason: string | null;
  readonly output: BodyRef | null;
}

/** The session workflow's input. */
export interface SessionInput {
  readonly session: string;
  /** AgentRef of the root agent. */
  readonly root: string;
  /** Name of the agent definition, for people. */
  readonly agent: string;
  /** Which resume this run drives; 0 for the first. */
  readonly resume: number;
  /** Set where the run is to take the session up first (R3). */
  readonly resuming?: Resuming;
  readonly dispatch: DispatchMode;
  readonly budget: ResolvedBudget;
  /** Digest of the goal, for people: the goal itself does not travel through Temporal. */
  readonly goal: string;
  /** When the session started, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Heartbeat silence after which a worker counts as lost, in milliseconds (W2). */
  readonly heartbeatTimeoutMs: number;
  /** Carried over by continue-as-new (C4). */
  readonly carried?: SessionCarry;
}

/** Where a run hands over to the next (C4): loop position, no bodies. */
export interface SessionCarry {
  readonly phase: Phase;
  readonly epoch: number;
  readonly slice: number;
  /** The latest dispatch was lost and not replaced yet. */
  readonly lost: boolean;
  /** What no worker with the pinned tools has taken yet (`listed` of its next dispatch). */
  readonly unfit?: readonly string[];
  readonly lastSeq: number;
  readonly spent: Spent;
  /** Dispatch `call` only. */
  readonly loop: LoopState;
  readonly pauses: readonly OpenPause[];
  /** Accepted answers that no dispatch has taken up yet. */
  readonly answers: readonly { readonly pause: string; readonly decision: string }[];
}
