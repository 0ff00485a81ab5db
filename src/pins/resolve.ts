import type { DispatchMode } from '../agent/agent.ts';
import type { PinnedAgent, PinnedTool, ResolvedBudget, Shape } from '../agent/shape.ts';
import { AgentNotFoundError } from '../contract/errors.ts';
import type { PinRow } from '../ports/store.ts';
import { bodyOf } from '../session/digest.ts';
import type { BodyRef, Durability } from '../session/envelopes.ts';
import type { JsonObject } from '../session/json.ts';

/** An agent as a config defines it, with every default filled in. */
export interface ResolvedAgent {
  readonly name: string;
  readonly version: string;
  readonly model: string;
  readonly instructions: string;
  /** As written: `server/*` is not expanded yet. */
  readonly tools: readonly string[];
  readonly budget: ResolvedBudget;
  readonly durability: Durability;
  /** JSON schema of the final answer; null where it is text. */
  readonly output: JsonObject | null;
  readonly dispatch: DispatchMode;
}

/** What a session is started from, and keeps (P1, P3). */
export interface ResolvedStart {
  /** What the pin's bytes hold. */
  readonly pinned: PinnedAgent;
  readonly pin: PinRow;
  readonly shape: Shape;
  /** The body that the configuration logged at the root's birth points at. */
  readonly instructions: { readonly ref: BodyRef; readonly json: string };
}

/**
 * The agent of a name, or of `name@version`.
 *
 * @throws {AgentNotFoundError} naming those there are.
 */
export function findAgent(agents: readonly ResolvedAgent[], name: string): ResolvedAgent {
  const found = agents.find((agent) => agent.name === name || `${agent.name}@${agent.version}` === name);
  if (found) return found;
  throw new AgentNotFoundError(
    name,
    agents.map((agent) => `${agent.name}@${agent.version}`),
  );
}

/**
 * Seals an agent (P3).
 *
 * @param tools the agent's, described, in order.
 * @param durability instead of the agent's own.
 */
export function pinAgent(
  agent: ResolvedAgent,
  tools: readonly PinnedTool[],
  durability: Durability = agent.durability,
): ResolvedStart {
  const { name, version, model, budget, output, dispatch } = agent;
  const pinned: PinnedAgent = {
    v: 1,
    name,
    version,
    model,
    instructions: agent.instructions,
    tools: [...tools],
    budget,
    output,
    dispatch,
  };
  const shape: Shape = {
    kind: 'solo',
    params: {},
    agent: name,
    version,
    model,
    tools: tools.map((tool) => tool.name),
    budget,
    dispatch,
    durability,
  };
  return { pinned, pin: { into: 'pins', ...bodyOf(pinned) }, shape, instructions: bodyOf(agent.instructions) };
}
