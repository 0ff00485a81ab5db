import type { Stores } from '../../ports/store.ts';
import { mongoAudit } from './audit.ts';
import { mongoPublications, mongoSkills } from './catalog.ts';
import { type Mongo, type MongoStoresOptions, openMongo } from './connect.ts';
import { mongoPins } from './pins.ts';
import { prepareMongo } from './prepare.ts';
import { mongoBodies, mongoEffects, mongoEvents } from './read.ts';
import { mongoRecovery } from './recovery.ts';
import { mongoRegistry } from './registry.ts';
import { SessionIndex } from './session-index.ts';
import { mongoSessions } from './sessions.ts';
import { mongoJournal } from './write.ts';

export type { MongoStoresOptions };

/**
 * The stores in a MongoDB, 8.0 or later. Nothing is connected to before the first call.
 *
 * @throws {ConfigInvalidError} where the URI is none.
 */
export const mongoStores = (options: MongoStoresOptions): Stores => storesOver(openMongo(options));

/** The stores over a database. */
export function storesOver(mongo: Mongo): Stores {
  const index = new SessionIndex(mongo);
  return {
    ...mongoJournal(mongo),
    ...mongoEvents(mongo),
    ...mongoSessions(mongo, index),
    ...mongoBodies(mongo),
    ...mongoEffects(mongo),
    ...mongoPins(mongo),
    ...mongoPublications(mongo),
    ...mongoSkills(mongo),
    ...mongoRegistry(mongo),
    ...mongoRecovery(mongo, index),
    ...mongoAudit(mongo, index),
    address: mongo.address,
    prepare: () => prepareMongo(mongo, index),
    close: () => mongo.client.close(),
  };
}
