import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { canonicalJson } from './canonical-json.ts';
import type { BodyRef } from './envelopes.ts';

/** SHA-256 of a text's UTF-8 bytes, 64 lower-case hex digits. */
export const sha256Hex = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)));

/**
 * The digest of a value's canonical JSON (L7), `sha256:` and 64 hex digits.
 *
 * @throws {UnserializableValueError} J5.
 */
export const bodyDigest = (value: unknown): `sha256:${string}` => `sha256:${sha256Hex(canonicalJson(value))}`;

/**
 * A value as a body: its canonical JSON (L7) and the reference that finds and verifies it, `bytes` being the length in
 * UTF-8.
 *
 * @throws {UnserializableValueError} J5.
 */
export function bodyOf(value: unknown): { ref: BodyRef; json: string } {
  const json = canonicalJson(value);
  const bytes = utf8ToBytes(json);
  return { ref: { digest: `sha256:${bytesToHex(sha256(bytes))}`, bytes: bytes.length }, json };
}
