import type { BodyRef } from '../../session/envelopes.ts';

/** Bounds of one query for bodies; some servers compare each document with each key asked for. */
const AT_ONCE = { count: 64, bytes: 8 * 1024 * 1024 } as const;

/** The digests asked for, each once, in parts that are small enough for one answer. */
export function chunks(refs: readonly BodyRef[]): string[][] {
  const parts: string[][] = [];
  let bytes = 0;
  for (const ref of new Map(refs.map((ref) => [ref.digest, ref])).values()) {
    const part = parts.at(-1);
    bytes += ref.bytes;
    if (part !== undefined && part.length < AT_ONCE.count && bytes <= AT_ONCE.bytes) {
      part.push(ref.digest);
    } else {
      parts.push([ref.digest]);
      bytes = ref.bytes;
    }
  }
  return parts;
}
