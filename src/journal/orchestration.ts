import type { CallState } from '../agent/loop.ts';
import { isOrchestratorTool, type OrchestratorToolName, orchestratorTools } from '../agent/orchestrator.ts';
import { ToolMissingError } from '../contract/errors.ts';
import type { EnvelopeOf } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';
import type { AgentRun } from './agent-run.ts';
import { draft, type Entry } from './session-log.ts';

type Applied = EnvelopeOf<'Applied'>['data'];

/** How one orchestrator tool changes the session. */
interface Operation {
  /** What is to be logged before `Applied`, and the ids that it carries. Nothing is done before all of it is logged. */
  apply(run: AgentRun, call: CallState): { readonly before: readonly Entry[]; readonly ids: JsonObject };
  /** What the agent is told, by what is recorded: the same now and when it is met again. */
  tell(recorded: Applied): Json;
}

const operations: Readonly<Record<OrchestratorToolName, Operation>> = {
  checkpoint_now: {
    apply(run) {
      const { ordinal, entries } = run.explicitSnapshot();
      return { before: entries, ids: { snapshot: ordinal } };
    },
    tell: ({ snapshot }) => ({ snapshot: snapshot as number }),
  },
};

/** What applying a call takes and gives. */
export interface Application {
  /** To be logged with the call's outcome, and before it. */
  readonly entries: readonly Entry[];
  readonly result: Json;
}

/**
 * Applies a call of an orchestrator tool, whatever dispatches it: what it does is logged as `Applied` under the call's key. A
 * key that is in the applied set is not applied again; the recorded effect is taken (E6).
 *
 * @throws {ToolMissingError} where this release does not know the tool.
 */
export function applyCall(run: AgentRun, call: CallState): Application {
  const { tool: name, key } = call;
  if (!isOrchestratorTool(name)) throw new ToolMissingError(name);
  const { apply, tell } = operations[name];
  const recorded = run.log.transcript.applied.get(key);
  if (recorded) return { entries: [], result: tell(recorded) };
  const { before, ids } = apply(run, call);
  const { agent } = run.id;
  const data: Applied = { ...ids, op: orchestratorTools[name].op, key };
  return { entries: [...before, draft('Applied', agent, `applied/${agent}/${call.call}`, data)], result: tell(data) };
}
