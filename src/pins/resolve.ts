import type { PinnedAgent, Shape } from '../agent/shape.ts';
import { bodyOf } from '../session/digest.ts';
import type { BodyRef, Durability } from '../session/envelopes.ts';
import type { Sealed } from './seal.ts';

/** What a session is started from, and keeps (P1). */
export interface ResolvedStart {
  /** `bundle`: published (P2). `catalog`: sealed as the config and the catalog of skills are now (P3). */
  readonly kind: 'bundle' | 'catalog';
  /** What the pin's bytes hold. */
  readonly pinned: PinnedAgent;
  readonly digest: string;
  readonly shape: Shape;
  /** The body that the configuration logged at the root's birth points at. */
  readonly instructions: { readonly ref: BodyRef; readonly json: string };
  /** What is to be stored before the session may start; null where it is stored already. */
  readonly sealed: Sealed | null;
}

/**
 * What a session of a sealed agent starts with.
 *
 * @param sealed null where the pin is published.
 * @param durability instead of the agent's own.
 */
export function startFrom(
  pinned: PinnedAgent,
  digest: string,
  sealed: Sealed | null,
  durability: Durability = pinned.durability,
): ResolvedStart {
  const { name, version, model, budget, dispatch, coordination } = pinned;
  const shape: Shape = {
    kind: coordination.kind,
    params: coordination.params,
    agent: name,
    version,
    model,
    tools: pinned.tools.map((tool) => tool.name),
    skills: pinned.skills.map((skill) => skill.name),
    roles: Object.keys(pinned.roles).sort(),
    budget,
    dispatch,
    durability,
  };
  const kind = sealed === null ? 'bundle' : 'catalog';
  return { kind, pinned, digest, shape, instructions: bodyOf(pinned.instructions), sealed };
}
