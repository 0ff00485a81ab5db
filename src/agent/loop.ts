import type { CallOutcome, TerminalPhase, ToolClass, Usage } from '../session/envelopes.ts';
import { exhausted, nothingSpent, type Spent, spend } from './budget.ts';
import type { ResolvedBudget } from './shape.ts';

/** One call that a generation asked for. No bodies: arguments are named by their digest (L7). */
export interface CallRequest {
  /** Id within the agent: `<node>.<index>`. */
  readonly call: string;
  readonly tool: string;
  readonly class: ToolClass;
  /** Effect key (E2). */
  readonly key: string;
  /** Digest of the arguments asked for. */
  readonly args: string;
  /** A person must approve it before it runs (H4). */
  readonly approval: boolean;
  /** Queue of the pool that runs it; null for the pool that runs the agent. */
  readonly taskQueue: string | null;
  /** Longest time of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Why it cannot run as asked (no such tool, arguments that do not fit), or null. */
  readonly problem: string | null;
}

/** An answered pause of a call: what was decided, and where its body is. */
export interface Decision {
  readonly pause: string;
  readonly decision: string;
}

export interface CallState extends CallRequest {
  /** Its open pause, or null. */
  readonly paused: string | null;
  readonly decisions: readonly Decision[];
  /** Null until it has its outcome. */
  readonly outcome: CallOutcome | null;
}

/** How an agent ended. */
export interface Ending {
  readonly phase: TerminalPhase;
  /** A code, or null where the phase says it all. */
  readonly reason: string | null;
}

/** Where an agent's tool-use loop stands. Small whatever the conversation's length (C2). */
export interface LoopState {
  /** Nodes begun: the number of the latest generation, 0 before any. */
  readonly node: number;
  /** The calls of the current node; empty at a node boundary. */
  readonly calls: readonly CallState[];
  readonly spent: Spent;
  /** Final answers in a row that did not fit the output's shape. */
  readonly misfits: number;
  readonly ending: Ending | null;
}

export type LoopAction =
  | { readonly do: 'generate'; readonly node: number }
  /** Run these now, in parallel; the others of the node wait for a person. */
  | { readonly do: 'calls'; readonly calls: readonly CallState[] }
  /** Nothing can go on before one of these pauses is answered. */
  | { readonly do: 'wait'; readonly pauses: readonly string[] }
  | { readonly do: 'end'; readonly ending: Ending };

export type LoopOutcome =
  | {
      readonly of: 'generation';
      readonly node: number;
      readonly usage: Usage;
      readonly finish: string;
      readonly calls: readonly CallRequest[];
      /** The final answer does not fit the output's shape. */
      readonly misfit: boolean;
    }
  | { readonly of: 'call'; readonly call: string; readonly outcome: CallOutcome }
  | { readonly of: 'pause'; readonly call: string; readonly pause: string }
  | { readonly of: 'answer'; readonly pause: string; readonly decision: string };

export const initialLoop: LoopState = { node: 0, calls: [], spent: nothingSpent, misfits: 0, ending: null };

/** How many final answers in a row may miss the output's shape before the agent fails. */
const MAX_MISFITS = 3;

/** Of a generation without calls; `tool-calls` among them, as it says that there are some. */
const FAILING_FINISH = new Set(['length', 'content-filter', 'error', 'tool-calls']);

/** A call that stands still until a person has spoken. */
const isHeld = (call: CallState) => call.outcome === null && call.paused !== null;

/**
 * What to do next. Pure: the same state, budget and time give the same action.
 *
 * @param elapsedMs time since the session's start, for the budget's deadline.
 */
export function next(state: LoopState, budget: ResolvedBudget, elapsedMs: number): LoopAction {
  if (state.ending) return { do: 'end', ending: state.ending };
  const open = state.calls.filter((call) => call.outcome === null);
  const reason = exhausted(state.spent, budget, elapsedMs, open.length > 0);
  if (reason) return { do: 'end', ending: { phase: 'exhausted', reason } };
  if (open.length === 0) return { do: 'generate', node: state.node + 1 };
  const ready = open.filter((call) => !isHeld(call));
  if (ready.length > 0) return { do: 'calls', calls: ready };
  return { do: 'wait', pauses: open.flatMap((call) => call.paused ?? []) };
}

/** The state after an outcome. An outcome that was applied before changes nothing. */
export function apply(state: LoopState, outcome: LoopOutcome): LoopState {
  switch (outcome.of) {
    case 'generation':
      return outcome.node <= state.node ? state : afterGeneration(state, outcome);
    case 'call':
      return settleNode(
        mapCall(
          state,
          (call) => call.call === outcome.call,
          (call) => ({ ...call, outcome: outcome.outcome }),
        ),
      );
    case 'pause':
      return mapCall(
        state,
        (call) => call.call === outcome.call,
        (call) => ({ ...call, paused: outcome.pause }),
      );
    case 'answer':
      return mapCall(
        state,
        (call) => call.paused === outcome.pause,
        (call) => ({
          ...call,
          paused: null,
          decisions: [...call.decisions, { pause: outcome.pause, decision: outcome.decision }],
        }),
      );
    default:
      throw new TypeError(`unknown outcome ${JSON.stringify(outcome satisfies never)}`);
  }
}

function afterGeneration(state: LoopState, outcome: Extract<LoopOutcome, { of: 'generation' }>): LoopState {
  const calls = outcome.calls.map((call) => ({ ...call, paused: null, decisions: [], outcome: null }));
  const misfits = outcome.misfit ? state.misfits + 1 : 0;
  const generated = {
    ...state,
    node: outcome.node,
    calls,
    misfits,
    spent: spend(state.spent, outcome.usage, calls.length),
  };
  return { ...generated, ending: endingOf(outcome, misfits) };
}

function endingOf(outcome: Extract<LoopOutcome, { of: 'generation' }>, misfits: number): Ending | null {
  if (outcome.calls.length > 0) return null;
  if (FAILING_FINISH.has(outcome.finish)) return { phase: 'failed', reason: `finish-${outcome.finish}` };
  if (!outcome.misfit) return { phase: 'completed', reason: null };
  return misfits < MAX_MISFITS ? null : { phase: 'failed', reason: 'output-misfit' };
}

function mapCall(
  state: LoopState,
  at: (call: CallState) => boolean,
  change: (call: CallState) => CallState,
): LoopState {
  return { ...state, calls: state.calls.map((call) => (at(call) ? change(call) : call)) };
}

/** A node whose calls all have outcomes is over: the state is at its boundary again. */
function settleNode(state: LoopState): LoopState {
  return state.calls.every((call) => call.outcome !== null) ? { ...state, calls: [] } : state;
}

/** Whether the state stands at a node boundary, where a snapshot is taken (C1). */
export const atBoundary = (state: LoopState): boolean => state.calls.length === 0;
