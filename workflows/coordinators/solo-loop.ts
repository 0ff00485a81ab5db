import type { CallRequest } from '../../src/agent/loop.ts';
import type { DispatchResult } from '../../src/contract/activities.ts';
import { driving } from '../activities.ts';
import { attempt, isOvertaken } from '../attempt.ts';
import { show } from '../details.ts';
import { breathe, untilAnswered } from '../pace.ts';
import type { Driven, SessionState } from '../state.ts';
import { runCalls } from './calls.ts';
import { endRoot } from './end.ts';

/** Drives the root by slices of its loop, each one activity (W0). */
export async function driveByLoop(state: SessionState): Promise<Driven> {
  const { agent, heartbeatTimeoutMs } = state.input;
  for (;;) {
    await breathe(state);
    const activities = driving(heartbeatTimeoutMs, { summary: `dispatchAgent ${agent}` });
    const result = await attempt(state, 'dispatchAgent', (dispatch) => activities.dispatchAgent(dispatch));
    if (result) state.reach(result);
    const driven = result && (await follow(state, result));
    if (driven) return driven;
    show(state);
  }
}

async function follow(state: SessionState, result: DispatchResult): Promise<Driven | null> {
  switch (result.kind) {
    case 'ended':
      return { of: 'ended', result: { phase: result.phase, reason: result.reason, output: result.output } };
    case 'cancelled':
      return { of: 'cancelled' };
    case 'fenced':
      return isOvertaken(state, result) ? { of: 'overtaken' } : null;
    case 'slice':
    case 'released':
      return null;
    case 'waiting':
      return waitForAnswer(state, result);
    case 'calls':
      state.setPauses(result.pauses);
      await runElsewhere(state, result.calls);
      return null;
    default:
      throw new TypeError(`unknown result ${JSON.stringify(result satisfies never)}`);
  }
}

async function waitForAnswer(
  state: SessionState,
  { pauses }: Extract<DispatchResult, { kind: 'waiting' }>,
): Promise<Driven | null> {
  state.setPauses(pauses);
  state.phase = 'waiting';
  show(state);
  const inTime = await untilAnswered(
    state,
    pauses.map(({ pause }) => pause),
  );
  if (!inTime) return endRoot(state, { phase: 'exhausted', reason: 'deadline' });
  state.phase = 'running';
  return null;
}

/** Tools that live on other task queues; what becomes of them is on the log for the next slice. */
async function runElsewhere(state: SessionState, calls: readonly CallRequest[]): Promise<void> {
  for (const result of await runCalls(state, calls)) if (result.kind === 'fenced') isOvertaken(state, result);
}
