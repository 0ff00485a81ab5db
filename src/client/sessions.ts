import { AgentNotFoundError, UsageError } from '../contract/errors.ts';
import type { Agents } from '../plugin/agents.ts';
import { openCatalogs } from '../plugin/backends.ts';
import { parseConfig, type ResolvedConfig } from '../plugin/config.ts';
import type { Stores } from '../ports/store.ts';
import { sessionIdFault } from '../session/agent-ref.ts';
import { SessionHandle } from './handle.ts';
import { type ListOptions, listSessions, type SessionSummary } from './list.ts';
import type { Pause } from './pauses.ts';
import { type StartOptions, startSession } from './start.ts';
import type { Temporal } from './temporal.ts';

/** Starting, finding and listing sessions. */
export class Sessions {
  readonly #temporal: Temporal;
  readonly #stores: Stores;
  readonly #config: ResolvedConfig | null;
  readonly #agents: Agents;
  #prepared: Promise<void> | null = null;

  /** @param config null: only published agents can be started. @param agents those of the config and the published ones. */
  constructor(
    temporal: Temporal,
    stores: Stores,
    config: ResolvedConfig | null,
    agents: Agents = openCatalogs(config, stores).agents,
  ) {
    this.#temporal = temporal;
    this.#stores = stores;
    this.#config = config;
    this.#agents = agents;
  }

  /**
   * Starts a session, of a published agent or one of the config. What the tools of the latter look like is looked up at the first
   * start of this client, and kept; its skills are those of the catalog at each start.
   *
   * @throws {AgentNotFoundError} {@link SessionLiveError} {@link SessionTerminalError} {@link GoalTooLargeError}
   * @throws {TemporalUnreachableError} {@link StoreUnreachableError} within 10 seconds.
   */
  async start(options: StartOptions): Promise<SessionHandle> {
    await this.#prepare();
    const { limits } = this.#config ?? parseConfig({}, null);
    const starter = { temporal: this.#temporal, stores: this.#stores, limits, agents: this.#agents };
    try {
      return this.get(await startSession(starter, options));
    } catch (error) {
      if (this.#config !== null || !(error instanceof AgentNotFoundError)) throw error;
      const { agent, available } = error.fields;
      throw new AgentNotFoundError(String(agent), available as string[], {
        where: 'that is published',
        advice:
          'To start an agent of a config, run this in its folder or give --config; in code, give the Client the ApomeshPlugin.',
      });
    }
  }

  /** A session by its id, whether it exists or not. @throws {UsageError} where it cannot be one. */
  get(id: string): SessionHandle {
    const fault = sessionIdFault(id);
    if (fault !== null) throw new UsageError(`${fault}.`, { field: 'id' });
    return new SessionHandle(id, this.#temporal, this.#stores);
  }

  /** Sessions on the log, the newest first. */
  list(options: ListOptions = {}): Promise<SessionSummary[]> {
    return listSessions(this.#stores, options);
  }

  /** The open pauses of all sessions, session by session, the newest first. */
  async *pauses(): AsyncGenerator<Pause, void, undefined> {
    const listed = await this.list({ limit: Number.POSITIVE_INFINITY });
    for (const { session, pauses } of listed) if (pauses > 0) yield* await this.get(session).pauses();
  }

  /** Nothing is written to a store that cannot keep its promises. */
  #prepare(): Promise<void> {
    this.#prepared ??= this.#stores.prepare().catch((error: unknown) => {
      this.#prepared = null;
      throw error;
    });
    return this.#prepared;
  }
}
