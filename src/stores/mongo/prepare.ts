import type { Db } from 'mongodb';
import { ConfigInvalidError } from '../../contract/errors.ts';
import type { Mongo } from './connect.ts';
import { collectionNames, createCollection, createIndexes } from './indexes.ts';
import type { SessionIndex } from './session-index.ts';

/** MongoDB 8.0, the first with writes to several collections in one command. */
const MIN_WIRE_VERSION = 25;

/** @throws {ConfigInvalidError} where MongoDB is too old. @throws {StoreUnreachableError} */
export async function prepareMongo({ db, address, attempt }: Mongo, index: SessionIndex): Promise<void> {
  await attempt(async () => {
    await checkVersion(db, address);
    const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
    for (const name of collectionNames) await (there.has(name) ? createIndexes(db, name) : createCollection(db, name));
  });
  await index.ensure();
}

async function checkVersion(db: Db, address: string): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  if (hello['maxWireVersion'] >= MIN_WIRE_VERSION) return;
  const { version } = await db.admin().command({ buildInfo: 1 });
  throw new ConfigInvalidError('mongo', `MongoDB at ${address} is version ${version}; use 8.0 or later`);
}
