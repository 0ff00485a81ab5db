import type { Client } from '@temporalio/client';
import { openCatalogs, openStores } from '../plugin/backends.ts';
import type { Bundles } from '../plugin/bundles.ts';
import { type ApomeshConfig, type MongoConfig, parseConfig } from '../plugin/config.ts';
import type { ApomeshPlugin } from '../plugin/plugin.ts';
import type { Publishing } from '../plugin/publishing.ts';
import type { Skills } from '../plugin/skills.ts';
import type { Stores } from '../ports/store.ts';
import { Recovery } from './recovery.ts';
import { Sessions } from './sessions.ts';
import { Temporal } from './temporal.ts';

export interface ApomeshClientOptions {
  /** A Temporal client, with the ApomeshPlugin among its plugins where it is to start sessions. */
  readonly client: Client;
  /** Where the store is. Default: what the config says, else MONGODB_URI, else a MongoDB of this machine. */
  readonly mongo?: MongoConfig;
  /** A store instead of MongoDB. It is the caller's to close. */
  readonly stores?: Stores;
  /** Instead of the plugin's config. */
  readonly config?: ApomeshConfig;
}

/** Starts sessions, follows them, and answers what they ask. */
export class ApomeshClient {
  readonly sessions: Sessions;
  /** Finding and taking up sessions that were lost. */
  readonly recovery: Recovery;
  /** Publishing agents, and looking at what is published. */
  readonly agents: Publishing;
  /** The live catalog of skills. */
  readonly skills: Skills;
  /** Backups and housekeeping of what sessions are pinned to. */
  readonly pins: Bundles;
  readonly #opened: Stores | null;

  /** Connects to nothing yet. @throws {ConfigInvalidError} */
  constructor({ client, mongo, stores, config }: ApomeshClientOptions) {
    const plugin = pluginOf(client);
    const resolved = config === undefined ? (plugin?.config ?? null) : parseConfig(config, null);
    const opened = () => (plugin && mongo === undefined ? plugin.openStores() : openStores(resolved, mongo));
    const used = stores ?? opened();
    this.#opened = stores !== undefined || (mongo === undefined && plugin?.hasOwnStores) ? null : used;
    const temporal = new Temporal(client);
    const { agents, publishing, skills, bundles } = openCatalogs(resolved, used);
    this.sessions = new Sessions(temporal, used, resolved, agents);
    this.agents = publishing;
    this.skills = skills;
    this.pins = bundles;
    this.recovery = new Recovery(temporal, used, resolved);
  }

  /** Closes the connection to MongoDB, if this client made one. Temporal's is the caller's. */
  async close(): Promise<void> {
    await this.#opened?.close();
  }
}

type Plugin = Pick<ApomeshPlugin, 'config' | 'openStores' | 'hasOwnStores'>;

/** The ApomeshPlugin that a client was made with, whichever copy of the package it is from. */
function pluginOf({ options }: Client): Plugin | null {
  for (const plugin of options.plugins ?? []) {
    if ('openStores' in plugin && 'config' in plugin) return plugin as unknown as Plugin;
  }
  return null;
}
