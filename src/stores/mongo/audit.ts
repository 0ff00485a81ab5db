import type { Filter } from 'mongodb';
import { LogUnreadableError } from '../../contract/errors.ts';
import type { Audit, Auditor, RowFault } from '../../ports/audit.ts';
import type { ClaimRow, CompletedRow } from '../../ports/store.ts';
import type { Envelope } from '../../session/envelopes.ts';
import { bodyFault } from '../bodies.ts';
import { LogAudit } from '../log-audit.ts';
import { byDispatch } from '../order.ts';
import {
  type BodyDoc,
  type ClaimDoc,
  collection,
  type EventDoc,
  type EvidenceDoc,
  type RecoverableDoc,
} from './collections.ts';
import type { Mongo } from './connect.ts';
import { readEvent } from './events.ts';
import { bodyDocs } from './read.ts';
import { bodyId, claimId, claimOf, fitsSum } from './rows.ts';
import { entryFaults } from './session-entries.ts';
import type { SessionIndex } from './session-index.ts';

export function mongoAudit(mongo: Mongo, index: SessionIndex): Auditor {
  return {
    async audit(session): Promise<Audit> {
      await index.ensure();
      // The record first and the claims last: the one is written after the events it speaks of, the others before.
      const completed = await completedRecord(mongo, session);
      const log = await auditLog(mongo, session);
      const [first] = log.envelopes;
      const { claims, faults } = await auditClaims(mongo, session);
      return {
        envelopes: log.envelopes,
        lastSeq: log.lastSeq,
        claims,
        completed,
        faults: [
          ...log.faults,
          ...(log.lastSeq < 0 ? [] : await entryFaults(mongo, session, first?.seq === 0 ? first : null)),
          ...faults,
          ...(await evidenceFaults(mongo, session)),
          ...(await listedFaults(mongo, session)),
        ],
      };
    },
    async bodyFaults(session, table, refs) {
      // What is known of each body that is there: the one length that fits it, or null where none does.
      const lengths = new Map<string, number | null>();
      for await (const doc of bodyDocs(mongo, session, table, refs)) lengths.set(doc._id, soundLength(doc, session));
      return refs.map(({ digest, bytes }) => {
        const length = lengths.get(bodyId(session, digest));
        return length === undefined ? 'missing' : length === bytes ? null : 'altered';
      });
    },
  };
}

function soundLength(doc: BodyDoc, session: string): number | null {
  const isOwn = doc.session === session && doc._id === bodyId(session, doc.digest);
  return isOwn && bodyFault(doc.json, doc) === null ? doc.bytes : null;
}

async function completedRecord({ db, attempt }: Mongo, session: string): Promise<CompletedRow | null> {
  const doc = await attempt(() => collection(db, 'completed').findOne({ _id: session }));
  if (doc === null) return null;
  const { _id, ...record } = doc;
  return { into: 'completed', session: _id, ...record };
}

/** Every row that says it is of the session, whatever place it says it has. */
async function auditLog({ db, attempt }: Mongo, session: string): Promise<LogAudit> {
  const audit = new LogAudit(session);
  await attempt(async () => {
    for await (const doc of collection(db, 'events').find({ session }, { sort: { seq: 1 } })) {
      if (!Number.isSafeInteger(doc.seq) || doc.seq < 0) audit.misplaced(String(doc._id));
      else audit.add(doc.seq, readable(doc, session));
    }
  });
  return audit;
}

function readable(doc: EventDoc, session: string): Envelope | LogUnreadableError {
  try {
    return readEvent(doc, session, doc.seq);
  } catch (error) {
    if (error instanceof LogUnreadableError) return error;
    throw error;
  }
}

/** All documents whose `_id` begins as the session's do, or that say they are of it. */
async function docsOf<Name extends 'dispatches' | 'effects'>(
  { db, attempt }: Mongo,
  name: Name,
  session: string,
): Promise<(Name extends 'dispatches' ? ClaimDoc : EvidenceDoc)[]> {
  type Doc = Name extends 'dispatches' ? ClaimDoc : EvidenceDoc;
  const all = db.collection<Doc>(name);
  // What follows the session's name is a slash, or # in what it claimed in its own name; $ and 0 come next.
  const begins = (mark: string, next: string) => ({ _id: { $gte: `${session}${mark}`, $lt: `${session}${next}` } });
  const filter = { $or: [begins('/', '0'), begins('#', '$'), { session }] } as unknown as Filter<Doc>;
  const docs = await attempt(() => all.find(filter).toArray());
  // The name of another session may begin with the same name and #.
  const isOwn = ({ _id, session: of }: Doc) =>
    of === session || /^\/|^#[\d.]+$/.test(String(_id).slice(session.length));
  return (docs as Doc[]).filter(isOwn);
}

async function auditClaims(mongo: Mongo, session: string): Promise<{ claims: ClaimRow[]; faults: RowFault[] }> {
  const claims: ClaimRow[] = [];
  const faults: RowFault[] = [];
  for (const doc of await docsOf(mongo, 'dispatches', session)) {
    if (fitsSum(doc) && doc.session === session && doc._id === claimId(doc)) claims.push(claimOf(doc));
    else faults.push({ in: 'dispatches', seq: null, why: `the claim ${String(doc._id)} was altered` });
  }
  return { claims: claims.sort(byDispatch), faults };
}

async function evidenceFaults(mongo: Mongo, session: string): Promise<RowFault[]> {
  const altered = (await docsOf(mongo, 'effects', session)).filter((doc) => !fitsSum(doc) || doc.session !== session);
  return altered.map(({ _id }) => ({ in: 'effects', seq: null, why: `the late evidence ${String(_id)} was altered` }));
}

async function listedFaults({ db, attempt }: Mongo, session: string): Promise<RowFault[]> {
  const doc: RecoverableDoc | null = await attempt(() => collection(db, 'recoverable').findOne({ _id: session }));
  if (doc === null || fitsSum(doc)) return [];
  return [{ in: 'recoverable', seq: null, why: 'what was decided on its recovery was altered' }];
}
