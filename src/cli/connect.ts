import { Client, Connection } from '@temporalio/client';
import { Recovery } from '../client/recovery.ts';
import { Sessions } from '../client/sessions.ts';
import { Temporal } from '../client/temporal.ts';
import { type Catalogs, openCatalogs, openStores } from '../plugin/backends.ts';
import type { ResolvedConfig } from '../plugin/config.ts';
import { findConfig, loadConfig } from '../plugin/load-config.ts';
import type { Common } from './options.ts';

const LOCAL_TEMPORAL = '127.0.0.1:7233';

/** Where Temporal is, by the options and the environment. */
export const temporalOf = ({ address, namespace }: Common) => ({
  address: address ?? process.env['TEMPORAL_ADDRESS'] ?? LOCAL_TEMPORAL,
  namespace: namespace ?? process.env['TEMPORAL_NAMESPACE'] ?? 'default',
});

/** Where MongoDB is, as far as the options say. */
export const mongoOf = ({ mongoUri }: Common) => (mongoUri === undefined ? {} : { uri: mongoUri });

/** The config that the options name, or that the folder has. @throws {ConfigInvalidError} where there is none. */
export const configOf = ({ config }: Common): Promise<ResolvedConfig> =>
  loadConfig({ cwd: process.cwd(), ...(config !== undefined && { file: config }) });

/** Whether a config is named, or the folder has one. */
export const hasConfig = async ({ config }: Common): Promise<boolean> =>
  config !== undefined || (await findConfig(process.cwd())) !== null;

/** As {@link configOf}, or null where none is named and the folder has none. */
const anyConfig = async (options: Common): Promise<ResolvedConfig | null> =>
  (await hasConfig(options)) ? configOf(options) : null;

/**
 * Runs a command against a session store and Temporal, neither of which is connected to before it is needed.
 *
 * @param needsConfig the command cannot do without a config.
 */
export async function withSessions<T>(
  options: Common,
  work: (sessions: Sessions, recovery: Recovery, catalogs: Catalogs) => Promise<T>,
  { needsConfig = false }: { needsConfig?: boolean } = {},
): Promise<T> {
  const config = needsConfig ? await configOf(options) : await anyConfig(options);
  const { address, namespace } = temporalOf(options);
  const stores = openStores(config, mongoOf(options));
  const connection = Connection.lazy({ address });
  try {
    const temporal = new Temporal(new Client({ connection, namespace }));
    const catalogs = openCatalogs(config, stores);
    const sessions = new Sessions(temporal, stores, config, catalogs.agents);
    return await work(sessions, new Recovery(temporal, stores, config), catalogs);
  } finally {
    await Promise.all([stores.close(), connection.close()]);
  }
}

/** Runs work that Ctrl-C and SIGTERM end. Gives 130 or 143 when they did, else what the work gives. */
export async function interruptible(work: (signal: AbortSignal) => Promise<number>): Promise<number> {
  const controller = new AbortController();
  let exit: number | null = null;
  const handlers = (
    [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const
  ).map(([name, code]) => {
    const handler = () => {
      exit ??= code;
      controller.abort();
    };
    process.once(name, handler);
    return { name, handler };
  });
  try {
    const done = await work(controller.signal);
    return exit ?? done;
  } catch (error) {
    if (exit !== null && controller.signal.aborted) return exit;
    throw error;
  } finally {
    for (const { name, handler } of handlers) process.off(name, handler);
  }
}
