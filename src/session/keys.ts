import { bodyDigest } from './digest.ts';
import type { Json } from './json.ts';

/** What makes a call of a tool that call and no other (E2). */
export interface EffectIdentity {
  /** Origin: the first AgentRef of the agent's chain of replacements. */
  readonly agent: string;
  readonly tool: string;
  readonly args: Json;
  /** How often this agent had asked for the very same call before, from 0. */
  readonly n: number;
}

/**
 * The key of an effect (E2): `sha256:` and the hex SHA-256 of the canonical JSON of `{agent, args, n, tool}`.
 *
 * @throws {UnserializableValueError} where `args` is not JSON (J5).
 * @throws {RangeError} where `n` is not a count.
 */
export function effectKey({ agent, tool, args, n }: EffectIdentity): `sha256:${string}` {
  if (!Number.isSafeInteger(n) || n < 0) throw new RangeError(`n must be a count (0, 1, 2 ...), and is ${n}`);
  return bodyDigest({ agent, args, n, tool });
}
