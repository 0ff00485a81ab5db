import { z } from 'zod';
import { type PinnedAgent, pinnedAgent } from '../agent/shape.ts';
import { PinCorruptError } from '../contract/errors.ts';
import { sha256Hex } from '../session/digest.ts';

/**
 * Opens a pin's bytes, verified (P4).
 *
 * @throws {PinCorruptError} when they are altered or cannot be read; nothing is substituted.
 */
export function openPin(json: string, digest: string): PinnedAgent {
  const found = `sha256:${sha256Hex(json)}`;
  if (found !== digest) throw new PinCorruptError(digest, `altered (its bytes hash to ${found})`);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new PinCorruptError(digest, 'undecodable (not JSON)');
  }
  const parsed = pinnedAgent.safeParse(value);
  if (!parsed.success) throw new PinCorruptError(digest, `undecodable (${z.prettifyError(parsed.error)})`);
  return parsed.data;
}
