import { hash } from 'node:crypto';
import { canonicalJson } from '../session/canonical-json.ts';

/** The checksum of a row: SHA-256 of its columns as canonical JSON. Null where they are nothing that could have been written. */
export function rowSum(columns: object): string | null {
  try {
    return hash('sha256', canonicalJson(columns));
  } catch {
    return null;
  }
}
