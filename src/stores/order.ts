import type { ClaimRow, EvidenceRow } from '../ports/store.ts';

/** By (resume, epoch, slice). */
export const byDispatch = (a: ClaimRow, b: ClaimRow): number =>
  a.resume - b.resume || a.epoch - b.epoch || a.slice - b.slice;

/** By time, then id. */
export const byTime = (a: EvidenceRow, b: EvidenceRow): number => compare(a.at, b.at) || compare(a.id, b.id);

/** Order of UTF-8 bytes is not asked for here: any fixed order will do. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
