import type { Filter } from 'mongodb';
import type { EventLog, SessionEntry, SessionPage } from '../../ports/store.ts';
import { collection, type EventDoc, type SessionDoc } from './collections.ts';
import type { Mongo } from './connect.ts';
import type { SessionIndex } from './session-index.ts';

/** Entries that are looked up together. */
const PAGE = 64;

export function mongoSessions(mongo: Mongo, index: SessionIndex): Pick<EventLog, 'sessions'> {
  const all = collection(mongo.db, 'sessions');

  const sessions: EventLog['sessions'] = async ({ limit = 100, before } = {}) => {
    await index.ensure();
    const entries = new Map<string, SessionEntry>();
    for (let skip = 0; entries.size < limit; skip += PAGE) {
      const options = { sort: { at: -1, session: -1 }, skip, limit: PAGE } as const;
      const page = await mongo.attempt(() => all.find(olderThan(before), options).toArray());
      for (const entry of await entriesOf(mongo, page)) {
        if (entries.size < limit && !entries.has(entry.session)) entries.set(entry.session, entry);
      }
      if (page.length < PAGE) break;
    }
    return [...entries.values()];
  };
  return { sessions };
}

function olderThan(before: SessionPage['before']): Filter<SessionDoc> {
  if (before === undefined) return { session: { $gt: '' } };
  if (typeof before === 'string') return { at: { $lt: before } };
  const { startedAt, session } = before;
  return { $or: [{ at: { $lt: startedAt } }, { at: startedAt, session: { $lt: session } }] };
}

/** The sessions that are really there: an entry of the index may be of a start that lost, or was never finished. */
async function entriesOf(mongo: Mongo, page: readonly SessionDoc[]): Promise<SessionEntry[]> {
  const { db, attempt } = mongo;
  const names = [...new Set(page.map(({ session }) => session))];
  const [records, firsts] = await attempt(() =>
    Promise.all([
      collection(db, 'completed')
        .find({ _id: { $in: names } }, { batchSize: PAGE + 1 })
        .toArray(),
      collection(db, 'events')
        .find<Pick<EventDoc, '_id' | 'seq' | 'at'>>(
          { _id: { $in: page.map(({ event }) => event) } },
          { projection: { seq: 1, at: 1 }, batchSize: PAGE + 1 },
        )
        .toArray(),
    ]),
  );
  const completed = new Map(records.map(({ _id, ...record }) => [_id, record]));
  const firstOf = new Map(firsts.map((first) => [first._id, first]));
  const entries: SessionEntry[] = [];
  for (const { session, at, event } of page) {
    const first = firstOf.get(event);
    const record = completed.get(session) ?? null;
    const listed =
      first?.seq === 0 && typeof first.at === 'string'
        ? first.at === at
        : record !== null || (await isAny(mongo, session));
    if (listed) entries.push({ session, startedAt: at, completed: record });
  }
  return entries;
}

/** Whether a session whose first event cannot be found has others: a log that is damaged, which must not go unseen. */
async function isAny({ db, attempt }: Mongo, session: string): Promise<boolean> {
  return (await attempt(() => collection(db, 'events').findOne({ session }, { projection: { _id: 1 } }))) !== null;
}
