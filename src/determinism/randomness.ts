import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/** A count of calls or draws: a bigint, or an integer that a number carries exactly; below 2^64. */
export type Count = bigint | number;

/**
 * The seed of a scope (T1), 64 hex digits.
 *
 * @param scope the session for its root program, the agent's origin for any other (J1).
 * @throws {RangeError} where the scope has a lone surrogate, which UTF-8 cannot carry.
 */
export function sessionSeed(scope: string): string {
  if (/\p{Cs}/u.test(scope)) throw new RangeError('the scope has a lone surrogate');
  return derive('apomesh/session-seed/v1', utf8ToBytes(scope));
}

/**
 * The seed of the step before a call (T1), 64 hex digits.
 *
 * @param seed of the scope, 64 hex digits.
 * @param callSeq of the next call to be issued.
 */
export const stepSeed = (seed: string, callSeq: Count): string =>
  derive('apomesh/step-seed/v1', seedBytes(seed), uint64(callSeq));

/**
 * Draw `i` of a step (T1), 64 hex digits.
 *
 * @param step seed of the step, 64 hex digits.
 * @param i how often was drawn in this step before.
 */
export const draw = (step: string, i: Count): string => derive('apomesh/step-draw/v1', seedBytes(step), uint64(i));

/** A number from 0 up to 1: the first 53 bits of a draw over 2^53. */
export function randomOf(drawn: string): number {
  const bits = new DataView(seedBytes(drawn).buffer);
  return (bits.getUint32(0) * 2 ** 21 + (bits.getUint32(4) >>> 11)) / 2 ** 53;
}

/** A version-4 UUID: the first 16 bytes of a draw, the version and variant bits set. */
export function uuidOf(drawn: string): string {
  const bytes = seedBytes(drawn).subarray(0, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

const derive = (domain: string, ...parts: Uint8Array[]): string =>
  bytesToHex(sha256(concatBytes(utf8ToBytes(`${domain}\0`), ...parts)));

function seedBytes(hex: string): Uint8Array {
  if (!/^[0-9a-f]{64}$/.test(hex)) throw new RangeError('a seed or draw is 64 lower-case hex digits');
  return hexToBytes(hex);
}

function uint64(count: Count): Uint8Array {
  if (typeof count === 'number' && !Number.isSafeInteger(count)) {
    throw new RangeError(`${count} is not an integer that a number carries exactly; give a bigint`);
  }
  const value = BigInt(count);
  if (value < 0n || value >= 2n ** 64n) throw new RangeError(`${value} does not fit in 64 bits`);
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value);
  return bytes;
}
