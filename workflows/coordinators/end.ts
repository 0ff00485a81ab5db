import { CancellationScope } from '@temporalio/workflow';
import type { Ending } from '../../src/agent/loop.ts';
import { coordinating } from '../activities.ts';
import type { Driven, SessionState } from '../state.ts';

/** Logs the root's end where no dispatch does. Gives the end that the log has. */
export async function endRoot(state: SessionState, ending: Ending, detail: string | null = null): Promise<Driven> {
  const { session, agent, resume, epoch } = state.ownAct();
  const ended = await CancellationScope.nonCancellable(() =>
    state.alone(() => coordinating().endAgent({ session, agent, resume, epoch, ending, detail })),
  );
  state.reach(ended);
  return { of: 'ended', result: { phase: ended.phase, reason: ended.reason, output: ended.output } };
}
