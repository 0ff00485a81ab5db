import type { PublishedEntry } from '../ports/pins.ts';
import type { BySession, ClaimRow, EvidenceRow } from '../ports/store.ts';
import { byCodePoint } from '../session/order.ts';

/** By (resume, epoch, slice). */
export const byDispatch = (a: ClaimRow, b: ClaimRow): number =>
  a.resume - b.resume || a.epoch - b.epoch || a.slice - b.slice;

/** By time, then id. */
export const byTime = (a: EvidenceRow, b: EvidenceRow): number => compare(a.at, b.at) || compare(a.id, b.id);

/** By name, then by version as text. */
export const byVersion = (a: PublishedEntry, b: PublishedEntry): number =>
  compare(a.name, b.name) || compare(a.version, b.version);

/** Order of UTF-8 bytes is not asked for here: any fixed order will do. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A page of what is kept by session, in the order that a database has it in. */
export function pageOf<T>(
  items: Iterable<T>,
  sessionOf: (item: T) => string,
  { limit = Number.POSITIVE_INFINITY, after }: BySession,
): T[] {
  const rest = [...items].filter((item) => after === undefined || byCodePoint(sessionOf(item), after) > 0);
  return rest.sort((a, b) => byCodePoint(sessionOf(a), sessionOf(b))).slice(0, Math.max(0, limit));
}
