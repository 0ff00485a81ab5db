import { ConfigInvalidError } from '../contract/errors.ts';
import { openPin } from '../pins/open.ts';
import { findAgent, pinAgent, type ResolvedStart } from '../pins/resolve.ts';
import type { Stores } from '../ports/store.ts';
import type { Durability } from '../session/envelopes.ts';
import { mongoStores } from '../stores/mongo/stores.ts';
import { describeTools } from '../tools/toolset.ts';
import type { MongoConfig, ResolvedConfig } from './config.ts';
import { inFile } from './in-file.ts';

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
 * What a session of an agent is started from, with its tools as they are now: MCP servers that it takes are asked.
 *
 * @param name `triage` or `triage@1.2.0`.
 * @param durability instead of the agent's own.
 * @throws {AgentNotFoundError} naming those there are.
 * @throws {ConfigInvalidError} where an MCP server cannot be reached or lacks a tool.
 */
export async function resolveAgent(
  config: Pick<ResolvedConfig, 'agents' | 'file' | 'mcp' | 'tools'>,
  name: string,
  durability?: Durability,
): Promise<ResolvedStart> {
  const agent = findAgent(config.agents, name);
  return pinAgent(agent, await inFile(config.file, describeTools(config, agent.tools)), durability);
}

/** Checks that a pin is there, whole and of a form that this release opens. @throws {PinCorruptError} (P4) */
export async function checkPin(stores: Pick<Stores, 'pin'>, digest: string): Promise<void> {
  openPin(await stores.pin(digest), digest);
}
