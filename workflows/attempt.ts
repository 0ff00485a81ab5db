import { TimeoutType } from '@temporalio/common';
import { ActivityFailure, ApplicationFailure, isCancellation, sleep, TimeoutFailure } from '@temporalio/workflow';
import type { SessionState } from './state.ts';

/** Failures that trying again cannot mend; the session stays as its log has it, for an operator. */
const FINAL: ReadonlySet<string> = new Set(['LOG_UNREADABLE', 'PIN_CORRUPT', 'BODY_MISSING', 'SESSION_NOT_FOUND']);

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;

/**
 * Runs one activity that drives the root, and says what its failure means (W2, W6): silence is a lost worker; any other
 * failure (a store out of reach, a worker without a tool) is waited out. After either the next dispatch raises the fence:
 * one that failed may have no claim, and a run that a reset has replaced could drive on beside the new one, which would
 * take that very slice (W4).
 *
 * @returns undefined where the caller has to dispatch again.
 */
export async function attempt<T>(state: SessionState, run: () => Promise<T>): Promise<T | undefined> {
  try {
    const result = await run();
    waits.set(state, FIRST_WAIT_MS);
    state.trouble = null;
    return result;
  } catch (error) {
    if (isCancellation(error) || !(error instanceof ActivityFailure)) throw error;
    if (error.cause instanceof ApplicationFailure && FINAL.has(error.cause.type ?? '')) throw error.cause;
    if (error.cause instanceof TimeoutFailure) {
      // One that nobody took has lost no worker.
      if (error.cause.timeoutType !== TimeoutType.SCHEDULE_TO_START) state.lost = true;
      return undefined;
    }
    state.lost = true;
    state.trouble = error.cause?.message ?? error.message;
    const waitMs = waits.get(state) ?? FIRST_WAIT_MS;
    waits.set(state, Math.min(waitMs * 2, LONGEST_WAIT_MS));
    await sleep(waitMs);
    return undefined;
  }
}

const waits = new WeakMap<SessionState, number>();

/** Whether a newer resume drives the session; where only the epoch is behind, the next dispatch goes above it. */
export function isOvertaken(state: SessionState, fenced: { readonly resume: number; readonly epoch: number }): boolean {
  if (fenced.resume > state.input.resume) return true;
  state.epoch = Math.max(state.epoch, fenced.epoch);
  state.lost = true;
  return false;
}
