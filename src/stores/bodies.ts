import { hash } from 'node:crypto';
import type { BodyFault } from '../ports/audit.ts';
import type { BodyRef } from '../session/envelopes.ts';

/** What is wrong with a stored body, or null. */
export function bodyFault(json: unknown, ref: BodyRef): BodyFault | null {
  if (json === undefined) return 'missing';
  if (typeof json !== 'string' || Buffer.byteLength(json) !== ref.bytes) return 'altered';
  return digestOf(json) === ref.digest ? null : 'altered';
}

/** SHA-256 of a text's UTF-8 bytes, as refs carry it. */
export const digestOf = (text: string): string => `sha256:${hash('sha256', text)}`;

/** What is wrong with the stored bytes of a file, or null. */
export function fileFault(bytes: Uint8Array | null | undefined, ref: BodyRef): 'missing' | 'altered' | null {
  if (bytes === undefined) return 'missing';
  if (bytes === null || bytes.length !== ref.bytes) return 'altered';
  return `sha256:${hash('sha256', bytes)}` === ref.digest ? null : 'altered';
}
