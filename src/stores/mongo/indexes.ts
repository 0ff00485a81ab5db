import { type Db, type IndexDescription, MongoServerError } from 'mongodb';
import type { Collections } from './collections.ts';

const NAMESPACE_EXISTS = 48;

const indexes = {
  events: [{ key: { session: 1, seq: 1 }, unique: true }],
  bodies: [],
  messages: [],
  snapshots: [],
  pins: [],
  files: [],
  published: [],
  skills: [],
  effects: [{ key: { session: 1, key: 1 } }],
  dispatches: [{ key: { session: 1, agent: 1 } }],
  completed: [],
  // The second has all that a scan asks of a session that is over.
  sessions: [{ key: { at: -1, session: -1 } }, { key: { session: 1, event: 1 } }],
  recoverable: [],
  workers: [],
} as const satisfies Record<keyof Collections, readonly IndexDescription[]>;

export const collectionNames = Object.keys(indexes) as (keyof Collections)[];

/** Creates a collection with its indexes, as far as they are missing. */
export async function createCollection(db: Db, name: keyof Collections): Promise<void> {
  try {
    await db.createCollection(name);
  } catch (error) {
    if (!(error instanceof MongoServerError && error.code === NAMESPACE_EXISTS)) throw error;
  }
  await createIndexes(db, name);
}

/** Creates the indexes of a collection, as far as they are missing. */
export async function createIndexes(db: Db, name: keyof Collections): Promise<void> {
  const descriptions: readonly IndexDescription[] = indexes[name];
  if (descriptions.length > 0) await db.collection(name).createIndexes(descriptions.map((each) => ({ ...each })));
}
