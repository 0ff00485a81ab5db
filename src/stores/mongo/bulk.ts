import { type Document, MongoServerError } from 'mongodb';
import { type Mongo, WRITE_CONCERN } from './connect.ts';
import { DUPLICATE_KEY, writeError } from './errors.ts';
import { isPlace, type Put } from './rows.ts';

/** What is read of MongoDB's answer: with `errorsOnly`, the batch has the one operation that an ordered bulk stopped at. */
interface Answer extends Document {
  readonly cursor: { readonly firstBatch: readonly Failure[] };
  readonly writeConcernError?: Omit<Failure, 'idx'>;
}
interface Failure {
  readonly idx: number;
  readonly code: number;
  readonly errmsg: string;
}

const OPTIONS = { ignoreUndefined: true } as const;

/**
 * Sends one ordered bulk, as MongoDB's own command: by way of the driver's `bulkWrite`, which makes the same command of it,
 * a worker spends a third more of its processor time on each.
 *
 * @param again where documents of other kinds than events and claims are known to be there already.
 * @param first whether nothing of the same rows was sent before.
 * @returns the index of the document whose key is taken, or null when all are in place.
 * @throws {StoreUnknownError} {@link StoreUnreachableError} {@link ConfigInvalidError}
 */
export async function sendBulk(
  mongo: Mongo,
  batch: readonly Put[],
  again: boolean,
  first: boolean,
): Promise<number | null> {
  const { writeConcernError, cursor } = await answerTo(commandOf(batch, mongo.db.databaseName, again), mongo, first);
  const [stop] = cursor.firstBatch;
  const failure = writeConcernError ?? (stop?.code === DUPLICATE_KEY ? undefined : stop);
  if (failure === undefined) return stop?.idx ?? null;
  const { code, errmsg } = failure;
  throw writeError(new MongoServerError({ message: `${errmsg} (${code})`, code }), mongo.address, false);
}

async function answerTo(command: Document, { client, address }: Mongo, first: boolean): Promise<Answer> {
  try {
    return (await client.db('admin').command(command, OPTIONS)) as Answer;
  } catch (error) {
    throw writeError(error, address, first);
  }
}

function commandOf(batch: readonly Put[], database: string, again: boolean): Document {
  const collections = [...new Set(batch.map(({ into }) => into))];
  return {
    bulkWrite: 1,
    ops: batch.map((put) => operationOf(put, collections.indexOf(put.into), again && !isPlace(put))),
    nsInfo: collections.map((name) => ({ ns: `${database}.${name}` })),
    ordered: true,
    errorsOnly: true,
    writeConcern: { w: WRITE_CONCERN.w, j: WRITE_CONCERN.journal },
  };
}

function operationOf({ doc }: Put, collection: number, again: boolean): Document {
  if (!again) return { insert: collection, document: doc };
  return {
    update: collection,
    filter: { _id: doc._id },
    updateMods: { $setOnInsert: doc },
    multi: false,
    upsert: true,
  };
}
