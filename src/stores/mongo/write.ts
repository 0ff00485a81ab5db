import { type ClientBulkWriteError, MongoClientBulkWriteError } from 'mongodb';
import type { Journal, Row } from '../../ports/store.ts';
import { collection } from './collections.ts';
import { type Mongo, WRITE_CONCERN } from './connect.ts';
import { DUPLICATE_KEY, writeError } from './errors.ts';
import { isSameEvent } from './events.ts';
import { Recent } from './recent.ts';
import { type AnyDoc, isPlace, modelOf, type Place, type Put, putsOf } from './rows.ts';

/** Bounds of one command, well within MongoDB's (48 MB, 100,000 operations), so that the driver never splits it. */
const MAX_BATCH = { bytes: 32 * 1024 * 1024, puts: 5_000 } as const;

const BULK_OPTIONS = { ordered: true, writeConcern: WRITE_CONCERN } as const;

/** A document on its way, with the number of the row it belongs to. */
type Sent = Put & { readonly row: number };

export function mongoJournal(mongo: Mongo): Journal {
  const recent = new Recent();
  const keyOf = ({ into, doc }: Put): string => `${into}/${doc._id}`;

  const write = async (rows: readonly Row[]): Promise<number> => {
    const puts = rows.flatMap((row, index) => putsOf(row).map((put): Sent => ({ ...put, row: index })));
    await mongo.connect();
    let rest = puts.filter((put) => isPlace(put) || !recent.has(keyOf(put)));
    let again = false;
    let first = true;
    while (rest.length > 0) {
      const batch = batchOf(rest);
      const stopped = await send(mongo, batch, again, first);
      first = false;
      const acknowledged = stopped ?? batch.length;
      for (const put of batch.slice(0, acknowledged)) if (!isPlace(put)) recent.add(keyOf(put));
      rest = rest.slice(acknowledged);
      const [taken] = rest;
      if (stopped === null || taken === undefined) continue;
      if (isPlace(taken)) {
        if (!(await isOurs(mongo, taken))) return taken.row;
      } else {
        // It is there already, and those after it may be too: a duplicate must not stop the bulk each time.
        again = true;
      }
      rest = rest.slice(1);
    }
    return rows.length;
  };
  return { write };
}

function batchOf(rest: readonly Sent[]): readonly Sent[] {
  let bytes = 0;
  const end = rest.findIndex((put, index) => {
    bytes += put.bytes;
    return index > 0 && (bytes > MAX_BATCH.bytes || index >= MAX_BATCH.puts);
  });
  return end < 0 ? rest : rest.slice(0, end);
}

/** Sends one ordered bulk. Gives the index of the document whose key is taken, or null when all are in place. */
async function send(mongo: Mongo, batch: readonly Sent[], again: boolean, first: boolean): Promise<number | null> {
  const { client, db, address } = mongo;
  try {
    await client.bulkWrite<Record<string, AnyDoc>>(
      batch.map((put) => modelOf(put, db.databaseName, again && !isPlace(put))),
      BULK_OPTIONS,
    );
    return null;
  } catch (error) {
    const [stop] = error instanceof MongoClientBulkWriteError ? stopsOf(error) : [];
    if (stop === undefined || stop[1].code !== DUPLICATE_KEY) throw writeError(error, address, first);
    return stop[0];
  }
}

/** The write errors of a bulk that is otherwise certain. */
const stopsOf = (error: MongoClientBulkWriteError): [number, ClientBulkWriteError][] =>
  error.writeConcernErrors.length > 0 ? [] : [...error.writeErrors];

/** Whether what is in the way is what was to be written: by us, before a result that stayed unknown. */
async function isOurs({ db, address }: Mongo, put: Place): Promise<boolean> {
  const { into, doc } = put;
  try {
    if (into === 'events') {
      const there = await collection(db, into).findOne({ _id: doc._id });
      return there !== null && isSameEvent(there, doc);
    }
    const there = await collection(db, into).findOne({ _id: doc._id });
    return there?.claimant === doc.claimant;
  } catch (error) {
    throw writeError(error, address, false);
  }
}
