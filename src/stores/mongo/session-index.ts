import { randomUUID } from 'node:crypto';
import { type AnyBulkWriteOperation, type Collection, MongoServerError } from 'mongodb';
import { collection, type EventDoc, type SessionDoc } from './collections.ts';
import type { Mongo } from './connect.ts';
import { DUPLICATE_KEY } from './errors.ts';
import { createCollection } from './indexes.ts';
import { sessionDoc } from './rows.ts';

/**
 * Says whether the index was made from the whole log, and who is at it. It lies in the index itself, so that it is lost together
 * with it, however that comes.
 */
interface WholeDoc {
  readonly _id: string;
  readonly whole?: boolean;
  readonly makers: readonly string[];
}

/** No entry's `_id` begins with a slash. */
const WHOLE = '/whole';

/** Entries written in one command. */
const BATCH = 500;

/** The start of a session whose first event has none that can be read. */
const UNKNOWN = '1970-01-01T00:00:00.000Z';

/** The first event that a log has; `_id` is the session. */
interface First {
  readonly _id: unknown;
  readonly seq: unknown;
  readonly at: unknown;
  readonly event: string;
}

/** The index of sessions, which may be dropped at any time (F6). */
export class SessionIndex {
  readonly #mongo: Mongo;
  readonly #entries: Collection<SessionDoc>;
  readonly #marks: Collection<WholeDoc>;
  #making: Promise<void> | null = null;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#entries = collection(mongo.db, 'sessions');
    this.#marks = mongo.db.collection<WholeDoc>('sessions');
  }

  /** Makes the index from the log where it is not known to be whole. @throws {StoreUnreachableError} */
  ensure(): Promise<void> {
    this.#making ??= this.#ensure().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #ensure(): Promise<void> {
    while (!(await this.#mongo.attempt(() => this.#isWhole()))) await this.rebuild();
  }

  /**
   * Enters every session on the log that is not entered as it should be. Any number of processes may do so at once, while others start
   * sessions. Where the index is dropped meanwhile, it is not whole.
   */
  rebuild(): Promise<void> {
    return this.#mongo.attempt(async () => {
      await createCollection(this.#mongo.db, 'sessions');
      const maker = await this.#sign();
      for await (const batch of this.#firsts()) await this.#enter(batch);
      // Whoever else is at it finds the index whole.
      await this.#marks.updateOne({ _id: WHOLE, makers: maker }, { $set: { whole: true, makers: [] } });
    });
  }

  async #isWhole(): Promise<boolean> {
    return (await this.#marks.findOne({ _id: WHOLE }))?.whole === true;
  }

  async #sign(): Promise<string> {
    const maker = randomUUID();
    const add = () => this.#marks.updateOne({ _id: WHOLE }, { $addToSet: { makers: maker } }, { upsert: true });
    await again(add);
    return maker;
  }

  /** MongoDB skips from session to session in the index of events, and does not keep what it has found in memory. */
  async *#firsts(): AsyncGenerator<First[], void, undefined> {
    const first = (name: keyof EventDoc) => ({ $first: `$${name}` });
    const group = { _id: '$session', seq: first('seq'), at: first('at'), event: first('_id') };
    const pipeline = [{ $sort: { session: 1, seq: 1 } }, { $group: group }];
    const cursor = collection(this.#mongo.db, 'events').aggregate<First>(pipeline, {
      allowDiskUse: true,
      batchSize: BATCH,
    });
    let batch: First[] = [];
    for await (const each of cursor) {
      batch.push(each);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    yield batch;
  }

  async #enter(firsts: readonly First[]): Promise<void> {
    const entries: SessionDoc[] = [];
    for (const { _id: session, seq, at, event } of firsts) {
      if (typeof session !== 'string' || session === '') continue;
      // A log that lost its first event is entered by what it has, unless it is entered by what it had.
      const isFirst = seq === 0 && typeof at === 'string';
      if (!isFirst && (await this.#entries.findOne({ session }, { projection: { _id: 1 } })) !== null) continue;
      entries.push(sessionDoc({ session, at: typeof at === 'string' ? at : UNKNOWN, _id: event }));
    }
    if (entries.length === 0) return;
    await again(() => this.#entries.bulkWrite(entries.map(replacing), { ordered: false }));
  }
}

/** Also where an entry was altered. */
const replacing = ({ _id, ...replacement }: SessionDoc): AnyBulkWriteOperation<SessionDoc> => ({
  replaceOne: { filter: { _id }, replacement, upsert: true },
});

/** The second time, what another has put there in between is there. */
function again<T>(put: () => Promise<T>): Promise<T> {
  return put().catch((error: unknown) => {
    if (!(error instanceof MongoServerError && error.code === DUPLICATE_KEY)) throw error;
    return put();
  });
}
