import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { SessionInput } from '../src/contract/session.ts';
import type { SessionState } from './state.ts';

/** Between activities: hands over to a new run where Temporal suggests it (C4). */
export async function breathe(state: SessionState): Promise<void> {
  if (!workflowInfo().continueAsNewSuggested) return;
  await condition(allHandlersFinished);
  // Where workers are versioned, the new run begins on the current ones. Made here: this file is also loaded outside of workflows.
  const goOn = makeContinueAsNewFunc<(input: SessionInput) => Promise<unknown>>({
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
  await goOn({ ...state.input, carried: state.carry });
}

/**
 * Holds no worker slot while a person is awaited (H5).
 *
 * @returns false when the session's deadline passed first.
 */
export async function untilAnswered(state: SessionState, pauses: readonly string[]): Promise<boolean> {
  const { deadlineMs } = state.input.budget;
  const isDue = () =>
    pauses.length === 0 || pauses.some((pause) => state.isAnswered(pause)) || workflowInfo().continueAsNewSuggested;
  if (deadlineMs === null) {
    await condition(isDue);
    return true;
  }
  const leftMs = state.input.startedAt + deadlineMs - Date.now();
  return leftMs > 0 && (await condition(isDue, leftMs));
}
