import { TimeoutType } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, isCancellation, sleep, TimeoutFailure } from '@temporalio/workflow';
import type { DispatchInput } from '../src/contract/activities.ts';
import type { SessionState } from './state.ts';

/** Failures that trying again cannot mend; the session stays as its log has it, for an operator. */
const FINAL: ReadonlySet<string> = new Set([
  'LOG_UNREADABLE',
  'PIN_CORRUPT',
  'SKILL_NOT_IN_BUNDLE',
  'BODY_MISSING',
  'SESSION_NOT_FOUND',
]);

/** Failures of a worker that is not the one that the session was pinned to run on; another may be. */
const UNFIT: ReadonlySet<string> = new Set(['TOOL_MISSING', 'TOOL_CHANGED']);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Runs one activity that drives the root, and says what its failure means (W2, W6): silence is a lost worker; any other
 * failure (a store out of reach, a worker without a tool) is waited out. After either the next dispatch raises the fence:
 * one that failed may have no claim, and a run that a reset has replaced could drive on beside the new one, which would
 * take that very slice (W4).
 *
 * @param what names what is tried: what succeeds elsewhere does not make this one try sooner.
 * @returns undefined where the caller has to dispatch again.
 */
export async function attempt<T>(
  state: SessionState,
  what: string,
  run: (dispatch: DispatchInput) => Promise<T>,
  dispatch: DispatchInput = state.nextDispatch(),
): Promise<T | undefined> {
  const waits = waitsOf(state);
  try {
    const listed = state.unfit.has(what);
    const result = await run(listed ? { ...dispatch, listed } : dispatch);
    waits.delete(what);
    state.unfit.delete(what);
    if (waits.size === 0) state.trouble = null;
    return result;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    if (error.cause instanceof TimeoutFailure) {
      // One that nobody took has lost no worker.
      if (error.cause.timeoutType !== TimeoutType.SCHEDULE_TO_START) state.lost = true;
      return undefined;
    }
    const code = (error.cause instanceof ApplicationFailure && error.cause.type) || '';
    if (FINAL.has(code)) throw error.cause;
    if (UNFIT.has(code)) state.unfit.add(what);
    state.lost = true;
    state.trouble = error.cause?.message ?? error.message;
    const waitMs = waits.get(what) ?? FIRST_WAIT_MS;
    waits.set(what, Math.min(waitMs * 2, LONGEST_WAIT_MS));
    await sleep(waitMs);
    return undefined;
  }
}

const waiting = new WeakMap<SessionState, Map<string, number>>();

/** How long what failed is to wait before it is tried again, in milliseconds. */
function waitsOf(state: SessionState): Map<string, number> {
  let waits = waiting.get(state);
  waits ??= new Map();
  waiting.set(state, waits);
  return waits;
}

/** Whether a newer resume drives the session; where only the epoch is behind, the next dispatch goes above it. */
export function isOvertaken(state: SessionState, fenced: { readonly resume: number; readonly epoch: number }): boolean {
  if (fenced.resume > state.input.resume) return true;
  state.epoch = Math.max(state.epoch, fenced.epoch);
  state.lost = true;
  return false;
}
