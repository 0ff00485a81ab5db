import type { Journal, Row } from '../../ports/store.ts';
import { sendBulk } from './bulk.ts';
import { collection } from './collections.ts';
import type { Mongo } from './connect.ts';
import { writeError } from './errors.ts';
import { isSameEvent } from './events.ts';
import { Recent } from './recent.ts';
import { isPlace, type Place, type Put, putsOf } from './rows.ts';

/** Bound of one command, in bytes: below MongoDB's 16 MiB by what is around the documents. */
const MAX_BATCH = 15 * 1024 * 1024;

/** The most that the columns of a document take apart from its text, with names as long as they may be. */
const COLUMNS = 8 * 1024;

/** A document on its way, with the number of the row it belongs to. */
type Sent = Put & { readonly row: number };

export function mongoJournal(mongo: Mongo): Journal {
  const recent = new Recent();
  const keyOf = ({ into, doc }: Put): string => `${into}/${doc._id}`;

  const write = async (rows: readonly Row[]): Promise<number> => {
    const puts = rows.flatMap((row, index) => putsOf(row).map((put): Sent => ({ ...put, row: index })));
    await mongo.connect();
    let rest = puts.filter((put) => !isLasting(put) || !recent.has(keyOf(put)));
    let again = false;
    let first = true;
    while (rest.length > 0) {
      const batch = batchOf(rest);
      const stopped = await sendBulk(mongo, batch, again, first);
      first = false;
      const acknowledged = stopped ?? batch.length;
      for (const put of batch.slice(0, acknowledged)) if (isLasting(put)) recent.add(keyOf(put));
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

/** Whether a document stays once it is there: the indexes may be dropped at any time (F6). */
const isLasting = (put: Put): boolean => !isPlace(put) && put.into !== 'sessions' && put.into !== 'completed';

function batchOf(rest: readonly Sent[]): readonly Sent[] {
  let bytes = 0;
  const end = rest.findIndex((put, index) => {
    bytes += put.bytes + COLUMNS;
    return index > 0 && bytes > MAX_BATCH;
  });
  return end < 0 ? rest : rest.slice(0, end);
}

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
