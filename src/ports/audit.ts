import type { BodyRef, Envelope } from '../session/envelopes.ts';
import type { BodyTable, ClaimRow, CompletedRow } from './store.ts';

/** A row of a session that is not as it was written, or that is missing. */
export interface RowFault {
  readonly in: 'events' | 'dispatches' | 'effects' | 'sessions' | 'recoverable';
  /** The place of an event; null for other rows, and for an event whose place is lost. */
  readonly seq: number | null;
  /** Which row, and what is wrong with it: a sentence for people. */
  readonly why: string;
}

/** What a store has of a session, bodies and pins apart, as far as it is as it was written. */
export interface Audit {
  /** In order of seq. Where some are missing or cannot be read, that is among the faults, and those after them are here. */
  readonly envelopes: readonly Envelope[];
  /** The highest place that any row of the log has, readable or not; -1 where there is none. */
  readonly lastSeq: number;
  readonly claims: readonly ClaimRow[];
  readonly completed: CompletedRow | null;
  readonly faults: readonly RowFault[];
}

/** What is wrong with a body that is referred to. */
export type BodyFault = 'missing' | 'altered';

/** Looks at all rows of a session, and does not stop at the first that is wrong. */
export interface Auditor {
  /** What was there before it began is found, also of a session that goes on meanwhile. */
  audit(session: string): Promise<Audit>;
  /** What is wrong with each of many bodies, in the order asked; null where nothing is. */
  bodyFaults(session: string, table: BodyTable, refs: readonly BodyRef[]): Promise<(BodyFault | null)[]>;
}
