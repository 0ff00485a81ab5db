import type { BySession, CompletedRow, RecoverableEntry, RecoveryIndex } from '../../ports/store.ts';
import { rebuildCompleted } from '../completed.ts';
import { collection, type RecoverableDoc, type SessionDoc } from './collections.ts';
import type { Mongo } from './connect.ts';
import { mongoEvents } from './read.ts';
import { completedDoc, withSum } from './rows.ts';
import type { SessionIndex } from './session-index.ts';

/** Index entries of sessions that are looked at together: of the first page, and of those after it. */
const PAGES = { first: 1_000, others: 10_000 } as const;

/** First events that are looked up together; some servers compare each document with each key asked for. */
const FIRSTS_AT_ONCE = 64;

type Entry = Pick<SessionDoc, 'session' | 'event'>;

export function mongoRecovery(mongo: Mongo, index: SessionIndex): RecoveryIndex {
  const { db, attempt } = mongo;
  const recoverable = collection(db, 'recoverable');
  return {
    async list({ session, ...entry }) {
      const { _id, ...doc } = withSum({ _id: session, ...entry });
      await attempt(() => recoverable.replaceOne({ _id }, doc, { upsert: true }));
    },
    async unlist(session) {
      await attempt(() => recoverable.deleteOne({ _id: session }));
    },
    async listed(session) {
      const doc = await attempt(() => recoverable.findOne({ _id: session }));
      return doc === null ? null : entryOf(doc);
    },
    async allListed({ limit, after }: BySession = {}) {
      if (limit !== undefined && limit <= 0) return [];
      const filter = after === undefined ? {} : { _id: { $gt: after } };
      const options = { sort: { _id: 1 }, ...(limit !== undefined && Number.isFinite(limit) && { limit }) } as const;
      return (await attempt(() => recoverable.find(filter, options).toArray())).map(entryOf);
    },
    async unfinished({ limit, after }) {
      await index.ensure();
      return unfinished(mongo, limit, after);
    },
    async rebuildIndexes() {
      await index.rebuild();
      await index.ensure();
      return rebuildCompleted(allSessions(mongo), mongoEvents(mongo).read, (row) => putCompleted(mongo, row));
    },
  };
}

const entryOf = ({ _id, sum, ...entry }: RecoverableDoc): RecoverableEntry => ({ session: _id, ...entry });

async function unfinished(mongo: Mongo, limit: number, after: string | undefined): Promise<string[]> {
  const found: string[] = [];
  let size: number = Math.min(Math.max(limit, PAGES.first), PAGES.others);
  for (let last = after; found.length < limit; size = PAGES.others) {
    const page = await pageAfter(mongo, last, size);
    const open = await withoutRecord(mongo, page);
    const eventOf = new Map(open.map(({ session, event }) => [session, event]));
    for (let rest = [...eventOf]; rest.length > 0 && found.length < limit; rest = rest.slice(FIRSTS_AT_ONCE)) {
      found.push(...(await onLog(mongo, rest.slice(0, FIRSTS_AT_ONCE))));
    }
    last = page.at(-1)?.session;
    if (page.length < size) break;
  }
  return found.slice(0, limit);
}

/** From the index alone. A session has several entries where starts of it lost. */
async function pageAfter({ db, attempt }: Mongo, after: string | undefined, limit: number): Promise<Entry[]> {
  const options = {
    sort: { session: 1 },
    projection: { _id: 0, session: 1, event: 1 },
    limit,
    batchSize: limit + 1,
  } as const;
  const filter = { session: { $gt: after ?? '' } };
  return attempt(() => collection(db, 'sessions').find<Entry>(filter, options).toArray());
}

/** Those that have no completed record: both are in the same order, so that one range of keys tells. */
async function withoutRecord({ db, attempt }: Mongo, page: readonly Entry[]): Promise<Entry[]> {
  const [first, last] = [page.at(0), page.at(-1)];
  if (first === undefined || last === undefined) return [];
  const range = { _id: { $gte: first.session, $lte: last.session } };
  const records = await attempt(() =>
    collection(db, 'completed')
      .find<{ _id: string }>(range, { projection: { _id: 1 }, batchSize: page.length + 1 })
      .toArray(),
  );
  const completed = new Set(records.map(({ _id }) => _id));
  return page.filter(({ session }) => !completed.has(session));
}

/** Those that are on the log: an entry of the index may be of a start that was never finished. */
async function onLog({ db, attempt }: Mongo, entries: readonly (readonly [string, string])[]): Promise<string[]> {
  const events = collection(db, 'events');
  const ids = entries.map(([, event]) => event);
  const options = { projection: { _id: 1 }, batchSize: ids.length + 1 } as const;
  const firsts = await attempt(() => events.find<{ _id: string }>({ _id: { $in: ids } }, options).toArray());
  const there = new Set(firsts.map(({ _id }) => _id));
  const sessions: string[] = [];
  for (const [session, event] of entries) {
    // One that lost its first event and has others must not go unseen.
    const isThere =
      there.has(event) || (await attempt(() => events.findOne({ session }, { projection: { _id: 1 } }))) !== null;
    if (isThere) sessions.push(session);
  }
  return sessions;
}

async function* allSessions(mongo: Mongo): AsyncGenerator<string, void, undefined> {
  for (let last: string | undefined; ; ) {
    const page = await pageAfter(mongo, last, PAGES.first);
    yield* new Set(page.map(({ session }) => session));
    last = page.at(-1)?.session;
    if (page.length < PAGES.first) return;
  }
}

async function putCompleted({ db, attempt }: Mongo, row: CompletedRow): Promise<void> {
  const completed = collection(db, 'completed');
  const { _id, ...record } = completedDoc(row);
  await attempt(async () => {
    const there = await completed.findOne({ _id });
    const names = Object.keys(record) as (keyof typeof record)[];
    if (there === null || names.some((name) => there[name] !== record[name]))
      await completed.replaceOne({ _id }, record, { upsert: true });
  });
}
