import { bodyRefsOf } from '../client/body-refs.ts';
import type { ClaimRow, Row, Stores } from '../ports/store.ts';
import { type BodyRef, type Envelope, isTerminalPhase } from '../session/envelopes.ts';

/**
 * Sees every row at the moment it becomes durable, and says what may not be: an event before its bodies (L4), a place or
 * an id taken twice.
 */
export class Witness {
  readonly stores: Stores;
  /** What is broken. */
  readonly broken: string[] = [];
  /** Events in the order they became durable. */
  readonly events: Envelope[] = [];
  readonly claims: ClaimRow[] = [];
  readonly #bodies = new Set<string>();
  readonly #intents = new Set<string>();
  readonly #outcomes = new Set<string>();
  readonly #roots = new Set<string>();
  readonly #terminal = new Set<string>();

  constructor(stores: Stores) {
    this.stores = { ...stores, write: (rows) => this.#write(stores, rows) };
  }

  /** Whether an effect's intent is durable. */
  isIntended(session: string, key: string): boolean {
    return this.#intents.has(`${session} ${key}`);
  }

  /** Whether the outcome of a call of an agent is durable. */
  isSettled(agent: string, call: string): boolean {
    return this.#outcomes.has(`${agent} ${call}`);
  }

  /** Whether the root's terminal phase is durable. */
  isTerminal(session: string): boolean {
    return this.#terminal.has(session);
  }

  async #write(stores: Stores, rows: readonly Row[]): Promise<number> {
    const written = await stores.write(rows);
    for (const row of rows.slice(0, written)) this.#see(row);
    return written;
  }

  #see(row: Row): void {
    if (row.into === 'events') this.#seeEvent(row.envelope);
    else if (row.into === 'dispatches') this.claims.push(row);
    else if (row.into === 'bodies' || row.into === 'messages' || row.into === 'snapshots')
      this.#bodies.add(bodyKey(row.session, row.into, row.ref));
  }

  #seeEvent(event: Envelope): void {
    const { session, seq, type } = event;
    if (this.events.some((known) => known.session === session && known.seq === seq)) return;
    for (const { table, ref } of bodyRefsOf(event))
      if (!this.#bodies.has(bodyKey(session, table, ref)))
        this.broken.push(`L4: ${type} at ${seq} points at a body in ${table} that is not durable`);
    this.events.push(event);
    if (type === 'SessionStarted') this.#roots.add(event.data.root);
    if (type === 'AgentLifecycle' && this.#roots.has(event.agent) && isTerminalPhase(event.data.phase))
      this.#terminal.add(session);
    if (type === 'ToolCallStarted') this.#intents.add(`${session} ${event.data.key}`);
    if (type === 'ToolCallCompleted') this.#outcomes.add(`${event.agent} ${event.data.call}`);
  }
}

const bodyKey = (session: string, table: string, { digest }: BodyRef): string => `${table} ${session} ${digest}`;
