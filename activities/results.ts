import { nothingSpent } from '../src/agent/budget.ts';
import type { CallRequest } from '../src/agent/loop.ts';
import type { AgentRun } from '../src/journal/agent-run.ts';
import type { SessionLog } from '../src/journal/session-log.ts';

/** How far an activity saw the log, and what its agent has spent. */
export const reached = ({ log, state }: AgentRun) => ({ lastSeq: log.transcript.lastSeq, spent: state.spent });

/** What an activity gives where its agent has ended, or a newer writer drives it; null where neither is so. */
export function overtaken(log: SessionLog, agent: string, spent = nothingSpent) {
  const { lastSeq } = log.transcript;
  const ending = log.agent(agent)?.ending;
  if (ending) return { kind: 'ended' as const, ...ending, lastSeq, spent };
  return { kind: 'fenced' as const, resume: log.resumes, epoch: log.agent(agent)?.epoch ?? 0, lastSeq, spent };
}
export type Overtaken = ReturnType<typeof overtaken>;

/** A call as it may travel through Temporal: no arguments, no texts (L7). */
export const requestOf = (request: CallRequest): CallRequest => {
  const { call, tool, class: toolClass, key, args, approval, taskQueue, timeoutMs, problem } = request;
  return { call, tool, class: toolClass, key, args, approval, taskQueue, timeoutMs, problem: problem && 'invalid' };
};
