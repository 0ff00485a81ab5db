import type { ActivityOptions } from '@temporalio/workflow';
import type { CallRequest } from '../../src/agent/loop.ts';
import type { CallResult } from '../../src/contract/activities.ts';
import { driving } from '../activities.ts';
import { attempt } from '../attempt.ts';
import type { SessionState } from '../state.ts';

/**
 * Runs calls side by side, each an activity of its own on the queue of its tool; where a fence is due, whichever comes first
 * raises it. A lost one is absent from the results.
 */
export async function runCalls(state: SessionState, calls: readonly CallRequest[]): Promise<readonly CallResult[]> {
  const { lost } = state;
  const under = calls.map((call) => ({ call, dispatch: { ...state.nextDispatch(), lost } }));
  const results = await Promise.all(
    under.map(({ call: { call, tool, taskQueue }, dispatch }) => {
      const activities = driving(state.input.heartbeatTimeoutMs, {
        summary: `callTool ${tool}`,
        ...(taskQueue === null ? {} : elsewhere(state, taskQueue)),
      });
      return attempt(state, `callTool ${tool}`, (under) => activities.callTool({ ...under, call, tool }), dispatch);
    }),
  );
  const known = results.filter((result) => result !== undefined);
  for (const result of known) state.reach(result);
  return known;
}

/** A queue may have no worker: what has not begun by the deadline does not begin. */
function elsewhere({ input }: SessionState, taskQueue: string): ActivityOptions {
  const { deadlineMs } = input.budget;
  if (deadlineMs === null) return { taskQueue };
  return { taskQueue, scheduleToStartTimeout: Math.max(input.startedAt + deadlineMs - Date.now(), 1) };
}
