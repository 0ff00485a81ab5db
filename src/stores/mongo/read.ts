import { BodyMissingError } from '../../contract/errors.ts';
import type { BodyTable, EffectLog, EventLog, StateStore } from '../../ports/store.ts';
import type { BodyRef } from '../../session/envelopes.ts';
import { bodyFault } from '../bodies.ts';
import { byTime } from '../order.ts';
import { chunks } from './chunks.ts';
import { type BodyDoc, collection } from './collections.ts';
import type { Mongo } from './connect.ts';
import { readEvent } from './events.ts';
import { bodyId, evidenceOf } from './rows.ts';

/** Documents a round trip. */
const EVENTS_AT_ONCE = 2_000;

export function mongoEvents({ db, attempt }: Mongo): Pick<EventLog, 'read'> {
  const events = collection(db, 'events');
  const isAny = async (session: string, from: number): Promise<boolean> =>
    (await events.findOne({ session, seq: { $gte: from } }, { projection: { _id: 1 } })) !== null;

  const read: EventLog['read'] = async (session, from = 0, limit = Number.POSITIVE_INFINITY) => {
    if (limit <= 0) return [];
    const end = from + limit;
    const docs = await attempt(() =>
      events
        // Bounded by seq, which is gapless, rather than by a count: no server has to look at what is not asked for.
        .find(
          { session, seq: { $gte: from, ...(Number.isFinite(end) && { $lt: end }) } },
          { sort: { seq: 1 }, batchSize: EVENTS_AT_ONCE },
        )
        .toArray(),
    );
    const envelopes = docs.map((doc, index) => readEvent(doc, session, from + index));
    if (docs.length < limit && Number.isFinite(end) && (await attempt(() => isAny(session, end)))) {
      readEvent(undefined, session, from + docs.length);
    }
    return envelopes;
  };
  return { read };
}

export function mongoBodies(mongo: Mongo): StateStore {
  const load: StateStore['load'] = async (session, table, refs) => {
    const found = new Map<string, unknown>();
    for await (const { _id, json } of bodyDocs(mongo, session, table, refs)) found.set(_id, json);
    const verified = new Set<string>();
    return refs.map((ref) => {
      const json = found.get(bodyId(session, ref.digest));
      const key = `${ref.digest}/${ref.bytes}`;
      const fault = verified.has(key) ? null : bodyFault(json, ref);
      if (fault !== null) throw new BodyMissingError(session, table, ref.digest, fault);
      verified.add(key);
      return json as string;
    });
  };
  return { load };
}

/** The documents there are of many bodies, each once; not all are in memory at the same time. */
export async function* bodyDocs(
  { db, attempt }: Mongo,
  session: string,
  table: BodyTable,
  refs: readonly BodyRef[],
): AsyncGenerator<BodyDoc, void, undefined> {
  const bodies = collection(db, table);
  for (const digests of chunks(refs)) {
    const ids = digests.map((digest) => bodyId(session, digest));
    yield* await attempt(() => bodies.find({ _id: { $in: ids } }, { batchSize: ids.length + 1 }).toArray());
  }
}

export function mongoEffects({ db, attempt }: Mongo): EffectLog {
  const evidence: EffectLog['evidence'] = async (session, key) => {
    const filter = key === undefined ? { session } : { session, key };
    const docs = await attempt(() => collection(db, 'effects').find(filter).toArray());
    return docs.map(evidenceOf).sort(byTime);
  };
  return { evidence };
}
