import { ConfigInvalidError } from '../contract/errors.ts';
import { checkComposed } from '../pins/compose.ts';
import type { Stores } from '../ports/store.ts';
import type { EnvelopeOf } from '../session/envelopes.ts';
import { mongoStores } from '../stores/mongo/stores.ts';
import { Agents } from './agents.ts';
import { Bundles } from './bundles.ts';
import { type MongoConfig, parseConfig, type ResolvedConfig } from './config.ts';
import { Publishing } from './publishing.ts';
import { openCatalog } from './skill-catalog.ts';
import { Skills } from './skills.ts';

/** All that sessions are started from. */
export interface Catalogs {
  /** The agents of a config and those that are published, to start sessions of. */
  readonly agents: Agents;
  readonly publishing: Publishing;
  readonly skills: Skills;
  readonly bundles: Bundles;
}

/** @param config null: what is published is all there is. */
export function openCatalogs(config: ResolvedConfig | null, stores: Stores): Catalogs {
  const used = config ?? parseConfig({}, null);
  const agents = new Agents(used, stores, openCatalog(used, stores));
  return {
    agents,
    publishing: new Publishing(used, stores, agents),
    skills: new Skills(used, stores),
    bundles: new Bundles(stores),
  };
}

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

/**
 * Checks that what a session was started with is there whole, every file of its skills included, and of a form that this release
 * opens (P4).
 *
 * @throws {PinCorruptError} {@link SkillNotInBundleError}
 */
export async function checkStarted(
  stores: Pick<Stores, 'pin' | 'files'>,
  started: Pick<EnvelopeOf<'SessionStarted'>['data'], 'pin' | 'shape'>,
): Promise<void> {
  await checkComposed(stores, started);
}
