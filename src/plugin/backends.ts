import { ConfigInvalidError } from '../contract/errors.ts';
import { checkPin as checkSealed } from '../pins/open.ts';
import type { Stores } from '../ports/store.ts';
import type { Pin } from '../session/envelopes.ts';
import { mongoStores } from '../stores/mongo/stores.ts';
import { Agents } from './agents.ts';
import type { MongoConfig, ResolvedConfig } from './config.ts';
import { openCatalog } from './skill-catalog.ts';

/** The agents of a config and those that are published, with the live catalog of skills. */
export const openAgents = (config: ResolvedConfig, stores: Stores): Agents =>
  new Agents(config, stores, openCatalog(config, stores));

const MONGODB_URI = 'MONGODB_URI';

/** Where MongoDB is when nobody says. */
const LOCAL_MONGO = 'mongodb://127.0.0.1:27017';

/**
 * The stores of a config, or of what is given before it: `given`, the config's `mongo`, MONGODB_URI, and last a MongoDB of
 * this machine. Nothing is connected to before the first call.
 */
export function openStores(config: Pick<ResolvedConfig, 'mongo'> | null, given: MongoConfig = {}): Stores {
  const named = given.uri ?? config?.mongo.uri ?? null;
  const fromEnvironment = named === null ? process.env[MONGODB_URI] : undefined;
  const database = given.database ?? config?.mongo.database;
  try {
    const uri = named ?? fromEnvironment ?? LOCAL_MONGO;
    return mongoStores({ uri, ...(database !== undefined && { database }) });
  } catch (error) {
    if (fromEnvironment === undefined || !(error instanceof ConfigInvalidError)) throw error;
    throw new ConfigInvalidError(MONGODB_URI, String(error.fields['why']), 'environment');
  }
}

/** Checks that a pin is there with all its files, whole and of a form that this release opens. @throws {PinCorruptError} (P4) */
export async function checkPin(stores: Pick<Stores, 'pin' | 'files'>, pin: Pin): Promise<void> {
  await checkSealed(stores, pin);
}
