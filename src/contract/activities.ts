import type { Spent } from '../agent/budget.ts';
import type { CallRequest, Ending } from '../agent/loop.ts';
import type { CallOutcome, Usage } from '../session/envelopes.ts';
import type { ResumeInput, ResumeResult, ScanInput, ScanPage } from './recovery.ts';
import type { Answer, OpenPause, SessionResult } from './session.ts';

/** Which attempt at driving which agent an activity belongs to. */
export interface DispatchId {
  readonly session: string;
  readonly agent: string;
  readonly resume: number;
  readonly epoch: number;
  /** Number of this activity within the epoch (W4): no two share a claim. */
  readonly slice: number;
}

/** An agent that waits, at the end of a slice. */
export interface Waiting {
  readonly pauses: readonly OpenPause[];
}

interface Reached {
  /** Seq of the latest event this activity knows. */
  readonly lastSeq: number;
}

interface Progress extends Reached {
  /** What the agent has used of its budget. */
  readonly spent: Spent;
}

/** How a dispatch came back to the workflow. */
export type DispatchResult = Progress &
  (
    | ({ readonly kind: 'ended' } & SessionResult)
    /** The end of a slice, or an orderly shutdown of the worker: dispatch the next one. */
    | { readonly kind: 'slice' | 'released' }
    | ({ readonly kind: 'waiting' } & Waiting)
    /** Calls bound to other task queues: run them as activities, then dispatch the next slice. */
    | ({ readonly kind: 'calls'; readonly calls: readonly CallRequest[] } & Waiting)
    /** The session was cancelled: work in progress was told to stop and what came of it is logged. */
    | { readonly kind: 'cancelled' }
    /** The log is ahead: dispatch again above this epoch, or stop where another resume drives the session. */
    | { readonly kind: 'fenced'; readonly resume: number; readonly epoch: number }
  );

/** What `generate` made of one node (dispatch `call`). */
export type GenerateResult = Progress &
  (
    | {
        readonly kind: 'generated';
        readonly node: number;
        readonly usage: Usage;
        readonly finish: string;
        readonly misfit: boolean;
        readonly calls: readonly CallRequest[];
      }
    | ({ readonly kind: 'ended' } & SessionResult)
    | { readonly kind: 'cancelled' | 'released' }
    | { readonly kind: 'fenced'; readonly resume: number; readonly epoch: number }
  );

/** What became of one call (dispatch `call`, or a tool on another task queue). */
export type CallResult = Progress &
  (
    | { readonly kind: 'called'; readonly call: string; readonly outcome: CallOutcome }
    | { readonly kind: 'paused'; readonly pause: OpenPause }
    | ({ readonly kind: 'ended' } & SessionResult)
    | { readonly kind: 'cancelled' | 'released' }
    | { readonly kind: 'fenced'; readonly resume: number; readonly epoch: number }
  );

/** What became of an answer. */
export type AnswerResult = Reached &
  (
    | { readonly kind: 'accepted'; readonly pause: string; readonly decision: string }
    | {
        readonly kind: 'refused';
        readonly code: string;
        readonly message: string;
        readonly fields: Readonly<Record<string, unknown>>;
      }
  );

export interface DispatchInput extends DispatchId {
  /** The dispatch before this one was lost: strike its worker and raise the fence (W3). */
  readonly lost: boolean;
  /** A worker before lacked a tool, for which the session is listed: one that has it takes it off the list. */
  readonly listed?: boolean;
}

export interface CallInput extends DispatchInput {
  readonly call: string;
  /** Its tool's name. */
  readonly tool: string;
}

export interface AnswerInput {
  readonly session: string;
  readonly resume: number;
  readonly epoch: number;
  readonly answer: Answer;
  /** Names this giving of an answer, however often it is tried: the same answer given again has another. */
  readonly token: string;
  /** A signal has nobody to tell, so its refusal is logged. */
  readonly logRefusal: boolean;
}

export interface EndInput {
  readonly session: string;
  readonly agent: string;
  readonly resume: number;
  readonly epoch: number;
  readonly ending: Ending;
  /** Free text, kept as a body; null for none. */
  readonly detail: string | null;
}

/** The activities of a worker pool, by the names Temporal knows them under. */
export interface ApomeshActivities {
  /** Runs an agent's loop for one slice (W0). */
  dispatchAgent(input: DispatchInput): Promise<DispatchResult>;
  /** Runs one generation. */
  generate(input: DispatchInput): Promise<GenerateResult>;
  /** Runs one tool call. */
  callTool(input: CallInput): Promise<CallResult>;
  /** Logs an answer to a pause, or says why not (H2). */
  acceptAnswer(input: AnswerInput): Promise<AnswerResult>;
  /** Logs that an agent waits, where no dispatch of its own does (dispatch `call`). */
  parkAgent(input: DispatchId): Promise<Reached>;
  /** Ends an agent that no dispatch drives. */
  endAgent(input: EndInput): Promise<Reached & SessionResult>;
  /** Takes a session up that was lost: logs SessionResumed, under a claim (R3, R5). */
  resumeSession(input: ResumeInput): Promise<ResumeResult>;
  /** One page of the boot scan (R2). */
  scanSessions(input: ScanInput): Promise<ScanPage>;
}

/** What a worker shows of an agent in its heartbeats. */
export interface HeartbeatDetails {
  readonly node: number;
  /** Tools in progress, or `generation`. */
  readonly call: string;
  readonly worker: string;
}
