import { Context } from '@temporalio/activity';
import type { PinnedAgent, PinnedTool } from '../src/agent/shape.ts';
import type { DispatchInput } from '../src/contract/activities.ts';
import { ClaimTakenError, FencedError, SessionTerminalError } from '../src/contract/errors.ts';
import type { AgentRun } from '../src/journal/agent-run.ts';
import type { Entry } from '../src/journal/session-log.ts';
import { type Begun, begin } from './begin.ts';
import type { Engine } from './engine.ts';
import { type Pulse, startPulse } from './pulse.ts';
import { type Overtaken, overtaken } from './results.ts';
import { failureOf } from './unfit.ts';

/**
 * Runs one activity's work on an agent: heartbeats around it, the agent claimed, AgentResumed after it where due (W3), and
 * the ways in which a newer writer shows itself turned into a result.
 */
export async function within<T>(
  engine: Engine,
  input: DispatchInput,
  needs: (pinned: PinnedAgent) => readonly PinnedTool[],
  work: (begun: Begun, pulse: Pulse) => Promise<T>,
  along: (run: AgentRun, pulse: Pulse) => readonly Entry[] = () => [],
): Promise<T | Overtaken> {
  const { activityId, workflowExecution, heartbeatTimeoutMs } = Context.current().info;
  const { session, agent } = input;
  const claimant = { run: workflowExecution?.runId ?? '', activity: activityId };
  const pulse = startPulse(engine, heartbeatTimeoutMs ?? engine.limits.heartbeatTimeoutMs);
  let begun: Begun | null = null;
  try {
    begun = await begin(engine, input, claimant, needs, (run) => along(run, pulse));
    if (begun === null) return overtaken(await engine.sessions.open(session), agent);
    const { run } = begun;
    const result = run.transcript.ending ? overtaken(run.log, agent, run.state.spent) : await work(begun, pulse);
    const resumed = run.resumed();
    if (resumed.length > 0) await run.append(resumed);
    if (run.log.terminal) engine.sessions.forget(session);
    return result;
  } catch (error) {
    const isOvertaken =
      error instanceof FencedError || error instanceof SessionTerminalError || error instanceof ClaimTakenError;
    if (isOvertaken) return overtaken(await engine.sessions.open(session), agent);
    throw await failureOf(engine, session, error);
  } finally {
    begun?.run.close();
    pulse.end();
  }
}
