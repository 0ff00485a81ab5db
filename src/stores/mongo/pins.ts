import { type AnyBulkWriteOperation, type Collection, MongoBulkWriteError } from 'mongodb';
import { PinCorruptError } from '../../contract/errors.ts';
import type { PinStore, SealedEntry, SealedTable } from '../../ports/pins.ts';
import { digestOf, fileFault } from '../bodies.ts';
import { chunks } from './chunks.ts';
import { collection, type SealedDoc } from './collections.ts';
import type { Mongo } from './connect.ts';
import { DUPLICATE_KEY } from './errors.ts';
import { bytesOf, fileDoc, pinDoc } from './files.ts';

/** Bounds of one command of writes. */
const PUTS_AT_ONCE = { count: 500, bytes: 8 * 1024 * 1024 } as const;

/** Keys of one query; some servers compare each document with each key asked for. */
const KEYS_AT_ONCE = 64;

export function mongoPins(mongo: Mongo): PinStore {
  const { db, attempt } = mongo;
  const tableOf = (name: SealedTable) => db.collection<SealedDoc>(name);

  const pin: PinStore['pin'] = async (digest) => {
    const doc = await attempt(() => collection(db, 'pins').findOne({ _id: digest }));
    if (doc === null) throw new PinCorruptError(digest, 'missing');
    const json: unknown = doc.json;
    if (typeof json !== 'string' || Buffer.byteLength(json) !== doc.bytes)
      throw new PinCorruptError(digest, 'truncated');
    if (digestOf(json) !== digest) throw new PinCorruptError(digest, 'altered');
    return json;
  };

  const files: PinStore['files'] = async (refs) => {
    const found = new Map<string, Uint8Array | null>();
    for (const _ids of chunks(refs)) {
      const cursor = collection(db, 'files').find({ _id: { $in: _ids } }, { batchSize: _ids.length + 1 });
      for (const doc of await attempt(() => cursor.toArray())) found.set(doc._id, bytesOf(doc));
    }
    return refs.map((ref) => {
      const bytes = found.get(ref.digest);
      const fault = fileFault(bytes, ref);
      if (fault !== null) throw new PinCorruptError(ref.digest, fault);
      return bytes as Uint8Array;
    });
  };

  const keep: PinStore['keep'] = async (rows) => {
    const at = new Date().toISOString();
    // What is pointed at goes first (L4).
    for (const table of ['files', 'pins'] as const) {
      const docs = rows
        .filter(({ into }) => into === table)
        .map((row) => (row.into === 'pins' ? pinDoc(row, at) : fileDoc(row, at)));
      for (const some of batches(docs)) await attempt(() => put(tableOf(table), some));
    }
  };

  const renew: PinStore['renew'] = async (table, digests) => {
    const there = new Set<string>();
    for (const some of parts(digests)) {
      const filter = { _id: { $in: some } };
      const $set = { at: new Date().toISOString() };
      const { matchedCount } = await attempt(() => tableOf(table).updateMany(filter, { $set }));
      const found =
        matchedCount === some.length
          ? some
          : await attempt(() => tableOf(table).distinct('_id', filter)).then((ids) => ids.map(String));
      for (const digest of found) there.add(digest);
    }
    return there;
  };

  const sealed: PinStore['sealed'] = async (table) => {
    const docs = await attempt(() =>
      tableOf(table)
        .find<Omit<SealedEntry, 'digest'> & { _id: string }>({}, { projection: { bytes: 1, at: 1 }, sort: { _id: 1 } })
        .toArray(),
    );
    return docs.map(({ _id, bytes, at = '' }) => ({ digest: _id, bytes, at }));
  };

  const sweep: PinStore['sweep'] = async (table, digests, before) => {
    let swept = 0;
    for (const some of parts(digests)) {
      const filter = { _id: { $in: some }, at: { $not: { $gte: before } } };
      swept += (await attempt(() => tableOf(table).deleteMany(filter))).deletedCount;
    }
    return swept;
  };

  return { pin, files, keep, renew, sealed, sweep };
}

/** Puts documents in place of what is there. Another that puts the same at the same time does no harm. */
async function put(table: Collection<SealedDoc>, docs: readonly SealedDoc[]): Promise<void> {
  const operations = docs.map(
    (replacement): AnyBulkWriteOperation<SealedDoc> => ({
      replaceOne: { filter: { _id: replacement._id }, replacement, upsert: true },
    }),
  );
  try {
    await table.bulkWrite(operations, { ordered: false });
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError && error.code === DUPLICATE_KEY)) throw error;
    await table.bulkWrite(operations, { ordered: false });
  }
}

function batches(docs: readonly SealedDoc[]): SealedDoc[][] {
  const made: SealedDoc[][] = [];
  let bytes = 0;
  for (const doc of docs) {
    bytes += doc.bytes;
    const batch = made.at(-1);
    if (batch !== undefined && batch.length < PUTS_AT_ONCE.count && bytes <= PUTS_AT_ONCE.bytes) {
      batch.push(doc);
    } else {
      made.push([doc]);
      bytes = doc.bytes;
    }
  }
  return made;
}

/** Each once. */
function parts(digests: readonly string[]): string[][] {
  const all = [...new Set(digests)];
  return Array.from({ length: Math.ceil(all.length / KEYS_AT_ONCE) }, (_, i) =>
    all.slice(i * KEYS_AT_ONCE, (i + 1) * KEYS_AT_ONCE),
  );
}
