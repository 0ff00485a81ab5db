import {
  ApplicationFailure,
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import type { SessionInput, SessionResult } from '../src/contract/session.ts';
import { coordinating } from './activities.ts';
import { endRoot } from './coordinators/end.ts';
import { driveByCall } from './coordinators/solo-call.ts';
import { driveByLoop } from './coordinators/solo-loop.ts';
import { show } from './details.ts';
import { handle } from './handlers.ts';
import { type Driven, SessionState } from './state.ts';

/**
 * One session: drives its root agent to a terminal phase (coordination kind `solo`), and takes answers and cancellation
 * meanwhile. Completes with {@link SessionResult}; a failed session fails the workflow with the reason as its type.
 */
export async function apomeshSession(input: SessionInput): Promise<SessionResult> {
  const state = new SessionState(input);
  const scope = new CancellationScope();
  // Before the handlers, whose acts come after it (R3).
  const takenUp = takeUp(state);
  handle(state, scope);
  show(state);
  const driven: Driven = (await takenUp) ? await drive(state, scope) : { of: 'overtaken' };
  const result = driven.of === 'ended' ? driven.result : await cancelledResult(state, driven);
  state.phase = result.phase;
  state.setPauses([]);
  show(state);
  // Who answers just now is to hear that it is over.
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  return closing(result);
}

/** Takes the session up where its log ends, if that is due. False where somebody else has, or it is over. */
async function takeUp(state: SessionState): Promise<boolean> {
  const { session, resume, resuming, carried } = state.input;
  if (resuming === undefined || carried !== undefined) return true;
  const claimant = workflowInfo().firstExecutionRunId;
  const result = await CancellationScope.nonCancellable(() =>
    state.alone(() => coordinating().resumeSession({ session, resume, claimant, ...resuming })),
  );
  if (result.kind === 'resumed') state.goOnFrom(result.carried);
  return result.kind === 'resumed';
}

async function drive(state: SessionState, scope: CancellationScope): Promise<Driven> {
  const driveRoot = state.input.dispatch === 'call' ? driveByCall : driveByLoop;
  try {
    return await scope.run(() => driveRoot(state));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return { of: 'cancelled' };
  }
}

async function cancelledResult(state: SessionState, driven: Driven): Promise<SessionResult> {
  if (driven.of === 'overtaken')
    throw ApplicationFailure.nonRetryable('a newer resume drives this session; this run ends', 'FENCED');
  const ended = await endRoot(state, { phase: 'cancelled', reason: null }, state.cancelReason || null);
  if (ended.of !== 'ended') throw new TypeError('the root has not ended');
  return ended.result;
}

function closing(result: SessionResult): SessionResult {
  const isTemporalCancel = CancellationScope.current().consideredCancelled;
  if (result.phase === 'cancelled' && isTemporalCancel) throw new CancelledFailure('session cancelled');
  if (result.phase !== 'failed') return result;
  throw ApplicationFailure.create({
    message: `the session failed: ${result.reason ?? 'no reason given'}`,
    type: result.reason ?? 'failed',
    nonRetryable: true,
    details: [result],
  });
}
