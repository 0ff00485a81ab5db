import { type Db, type IndexDescription, MongoServerError } from 'mongodb';
import { ConfigInvalidError } from '../../contract/errors.ts';
import { type Collections, collection } from './collections.ts';
import type { Mongo } from './connect.ts';
import { sessionDoc } from './rows.ts';

/** MongoDB 8.0, the first with writes to several collections in one command. */
const MIN_WIRE_VERSION = 25;

const NAMESPACE_EXISTS = 48;

const indexes = {
  events: [{ key: { session: 1, seq: 1 }, unique: true }],
  bodies: [],
  messages: [],
  snapshots: [],
  pins: [],
  effects: [{ key: { session: 1, key: 1 } }],
  dispatches: [{ key: { session: 1, agent: 1 } }],
  completed: [],
  // The second has all that a scan asks of a session that is over.
  sessions: [{ key: { at: -1, session: -1 } }, { key: { session: 1, event: 1 } }],
  recoverable: [],
  workers: [],
} as const satisfies Record<keyof Collections, readonly IndexDescription[]>;

/** @throws {ConfigInvalidError} where MongoDB is too old. @throws {StoreUnreachableError} */
export async function prepareMongo({ db, address, attempt }: Mongo): Promise<void> {
  await attempt(async () => {
    await checkVersion(db, address);
    const there = new Set((await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name));
    for (const [name, descriptions] of Object.entries(indexes)) {
      if (!there.has(name)) await create(db, name);
      if (descriptions.length > 0) await db.collection(name).createIndexes(descriptions.map((each) => ({ ...each })));
    }
    await rebuildSessions(db);
  });
}

async function checkVersion(db: Db, address: string): Promise<void> {
  const hello = await db.admin().command({ hello: 1 });
  if (hello['maxWireVersion'] >= MIN_WIRE_VERSION) return;
  const { version } = await db.admin().command({ buildInfo: 1 });
  throw new ConfigInvalidError('mongo', `MongoDB at ${address} is version ${version}; use 8.0 or later`);
}

async function create(db: Db, name: string): Promise<void> {
  try {
    await db.createCollection(name);
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  }
}

/** The index of sessions may be lost; it is made again from the log. */
async function rebuildSessions(db: Db): Promise<void> {
  const sessions = collection(db, 'sessions');
  const events = collection(db, 'events');
  if ((await sessions.findOne({}, { projection: { _id: 1 } })) !== null) return;
  if ((await events.findOne({}, { projection: { _id: 1 } })) === null) return;
  for await (const first of events.find({ seq: 0 }, { projection: { session: 1, at: 1 } })) {
    const { _id, ...rest } = sessionDoc(first);
    await sessions.updateOne({ _id }, { $setOnInsert: rest }, { upsert: true });
  }
}
