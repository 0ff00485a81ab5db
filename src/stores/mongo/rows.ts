import { BodyTooLargeError } from '../../contract/errors.ts';
import type { BodyRow, ClaimRow, CompletedRow, EvidenceRow, Row } from '../../ports/store.ts';
import { checkColumns } from '../columns.ts';
import { rowSum } from '../row-sum.ts';
import type { BodyDoc, ClaimDoc, Collections, CompletedDoc, EventDoc, EvidenceDoc, SessionDoc } from './collections.ts';
import { eventDoc } from './events.ts';

/** Largest text of one document, in bytes: MongoDB's limit of 16 MiB, with room for the other columns. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024 - 64 * 1024;

type Content = 'bodies' | 'messages' | 'snapshots' | 'effects' | 'completed' | 'sessions';

/** A document to be put in place. `place`: its place may be taken by another, which stops the write. */
type DocIn<Name extends keyof Collections> = {
  readonly into: Name;
  readonly doc: Collections[Name];
  readonly bytes: number;
};
export type Place = DocIn<'events'> | DocIn<'dispatches'>;
/** A document whose `_id` says all that it can hold, or of which the first stays. */
export type Kept = { [Name in Content]: DocIn<Name> }[Content];
export type Put = Place | Kept;

export const isPlace = (put: Put): put is Place => put.into === 'events' || put.into === 'dispatches';

/**
 * The documents of a row.
 *
 * @throws {UnserializableValueError} @throws {BodyTooLargeError}
 */
export function putsOf(row: Row): readonly Put[] {
  checkColumns(row);
  switch (row.into) {
    case 'events': {
      const doc = eventDoc(row.envelope);
      const event = { into: 'events', doc, bytes: doc.data.length * 3 } as const;
      return doc.seq === 0 ? [{ into: 'sessions', doc: sessionDoc(doc), bytes: 0 }, event] : [event];
    }
    case 'dispatches':
      return [{ into: 'dispatches', doc: claimDoc(row), bytes: 0 }];
    case 'bodies':
    case 'messages':
    case 'snapshots':
      return [{ into: row.into, doc: bodyDoc(row), bytes: sizeOf('a body', row.ref.bytes) }];
    case 'effects':
      return [{ into: 'effects', doc: evidenceDoc(row), bytes: sizeOf(row.tool, Buffer.byteLength(row.json)) }];
    case 'completed':
      return [{ into: 'completed', doc: completedDoc(row), bytes: 0 }];
    default:
      throw new Error(`no such table: ${JSON.stringify(row satisfies never)}`);
  }
}

export const bodyId = (session: string, digest: string): string => `${session}/${digest}`;

export const claimOf = ({ _id, sum, ...claim }: ClaimDoc): ClaimRow => ({ into: 'dispatches', ...claim });

export const evidenceOf = ({ _id, sum, ...evidence }: EvidenceDoc): EvidenceRow => ({
  into: 'effects',
  id: _id,
  ...evidence,
});

const bodyDoc = ({ session, ref, json }: BodyRow): BodyDoc => ({
  _id: bodyId(session, ref.digest),
  session,
  digest: ref.digest,
  bytes: ref.bytes,
  json,
});

export const claimId = ({ agent, resume, epoch, slice }: Pick<ClaimRow, 'agent' | 'resume' | 'epoch' | 'slice'>) =>
  `${agent}#${resume}.${epoch}.${slice}`;

const claimDoc = ({ into, ...claim }: ClaimRow): ClaimDoc => withSum({ _id: claimId(claim), ...claim });

const evidenceDoc = ({ into, id, ...evidence }: EvidenceRow): EvidenceDoc => withSum({ _id: id, ...evidence });

export const completedDoc = ({ into, session, ...record }: CompletedRow): CompletedDoc => ({ _id: session, ...record });

/** The entry that lists a session by its first event. */
export const sessionDoc = ({ _id, session, at }: Pick<EventDoc, '_id' | 'session' | 'at'>): SessionDoc => ({
  _id: `${session}/${at}`,
  session,
  at,
  event: _id,
});

/** A document with its checksum. */
export const withSum = <T extends { readonly _id: string }>(doc: T): T & { readonly sum: string } => ({
  ...doc,
  sum: String(rowSum(doc)),
});

/** Whether a document is as it was written. */
export const fitsSum = ({ sum, ...doc }: { readonly sum: string }): boolean =>
  typeof sum === 'string' && rowSum(doc) === sum;

/** @throws {BodyTooLargeError} where no document can hold so many bytes of text. */
export function sizeOf(what: string, bytes: number): number {
  if (bytes > MAX_TEXT_BYTES) throw new BodyTooLargeError(what, bytes, MAX_TEXT_BYTES);
  return bytes;
}
