import { setTimeout as sleep } from 'node:timers/promises';
import { SessionNotFoundError, StoreUnknownError, StoreUnreachableError } from '../contract/errors.ts';
import type { Stores } from '../ports/store.ts';
import { type Envelope, isTerminalPhase } from '../session/envelopes.ts';

export interface TailOptions {
  /** First seq to give. Default 0. */
  readonly from?: number;
  /** Ends the iteration, without an error. */
  readonly signal?: AbortSignal;
  /**
   * Called about every 5 seconds while nothing happens; when it throws, the iteration ends with that, unless the log has
   * moved on meanwhile. Default: none, so that a session that Temporal has lost is followed until it is resumed.
   */
  readonly onIdle?: () => Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 500;
const IDLE_MS = 5_000;

/** Envelopes read at once. */
const CHUNK = 1_000;

/** How long a store that has answered before may stay away, in milliseconds. */
const PATIENCE_MS = 60_000;

/**
 * A session's envelopes from a seq on, in order, as they are logged. Goes on across lost workers, resumes and a store that
 * is away for up to a minute; ends after the root's terminal phase.
 *
 * @throws {SessionNotFoundError} where there is no such session.
 * @throws {LogUnreadableError} L8.
 */
export async function* tailLog(
  stores: Pick<Stores, 'read'>,
  session: string,
  { from = 0, signal, onIdle }: TailOptions = {},
): AsyncGenerator<Envelope, void, undefined> {
  const reader = new Reader(stores, session, signal);
  let pauseMs = FIRST_PAUSE_MS;
  let movedAt = Date.now();
  let stopped: { error: unknown } | null = null;
  let envelopes = await reader.open(from);
  for (;;) {
    for (const envelope of envelopes) {
      if (signal?.aborted) return;
      if (envelope.seq >= from) yield envelope;
      if (reader.isEnd(envelope)) return;
    }
    if (envelopes.length > 0) {
      pauseMs = FIRST_PAUSE_MS;
      movedAt = Date.now();
      stopped = null;
    } else if (stopped !== null) {
      throw stopped.error;
    } else if (onIdle && Date.now() - movedAt >= IDLE_MS) {
      movedAt = Date.now();
      stopped = await onIdle().then(
        () => null,
        (error: unknown) => ({ error }),
      );
    } else {
      await sleep(pauseMs, undefined, signal && { signal }).catch(() => undefined);
      pauseMs = Math.min(pauseMs * 1.5, LAST_PAUSE_MS);
    }
    if (signal?.aborted) return;
    envelopes = await reader.next();
  }
}

/** Where a log has been read to, and who its root is. */
class Reader {
  readonly #stores: Pick<Stores, 'read'>;
  readonly #session: string;
  readonly #signal: AbortSignal | undefined;
  #root: string | null = null;
  #at = 0;

  constructor(stores: Pick<Stores, 'read'>, session: string, signal: AbortSignal | undefined) {
    this.#stores = stores;
    this.#session = session;
    this.#signal = signal;
  }

  /** The first envelopes: from the seq on where the log's first one names the root, else all of them. */
  async open(from: number): Promise<Envelope[]> {
    const [first] = await this.#stores.read(this.#session, 0, 1);
    if (!first) throw new SessionNotFoundError(this.#session);
    if (from > 0 && first.type === 'SessionStarted') {
      this.#root = first.data.root;
      const envelopes = await this.#stores.read(this.#session, from, CHUNK);
      if (envelopes.length > 0) return this.#take(envelopes);
      // The session may be over before that seq: the end must be seen.
    }
    return this.#take(await this.#stores.read(this.#session, 0, CHUNK));
  }

  /** What has been logged since, bearing with a store that is away. */
  async next(): Promise<Envelope[]> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        return this.#take(await this.#stores.read(this.#session, this.#at, CHUNK));
      } catch (error) {
        const away = error instanceof StoreUnreachableError || error instanceof StoreUnknownError;
        if (!away || Date.now() > deadline) throw error;
        await sleep(LAST_PAUSE_MS, undefined, this.#signal && { signal: this.#signal }).catch(() => undefined);
        if (this.#signal?.aborted) return [];
      }
    }
  }

  /** Whether an envelope is the log's last (F3). */
  isEnd({ type, agent, data }: Envelope): boolean {
    return type === 'AgentLifecycle' && agent === this.#root && isTerminalPhase(data.phase);
  }

  #take(envelopes: Envelope[]): Envelope[] {
    for (const { type, agent, data, seq } of envelopes) {
      if (type === 'SessionStarted') this.#root = data.root;
      if (type === 'AgentLifecycle' && data.phase === 'born' && data.parent === null) this.#root ??= agent;
      this.#at = seq + 1;
    }
    return envelopes;
  }
}
