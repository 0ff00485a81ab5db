import { LRUCache } from 'lru-cache';
import type { BodyRow, BodyTable, StateStore } from '../src/ports/store.ts';
import type { BodyRef } from '../src/session/envelopes.ts';

/** Bytes that a worker keeps at hand: the nodes in progress of many sessions. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Bodies by reference, with those that this worker made or read last at hand. They never change. */
export class RecentBodies implements StateStore {
  readonly #store: StateStore;
  readonly #texts = new LRUCache<string, string>({ maxSize: KEPT_BYTES });

  constructor(store: StateStore) {
    this.#store = store;
  }

  /** Keeps one that is about to be written. Nobody asks for it before an event names it, and it is durable by then (L4). */
  keep({ into, session, ref, json }: BodyRow): void {
    this.#texts.set(keyOf(session, into, ref), json, { size: ref.bytes + 1 });
  }

  async load(session: string, table: BodyTable, refs: readonly BodyRef[]): Promise<string[]> {
    const texts = refs.map((ref) => this.#texts.get(keyOf(session, table, ref)));
    const missing = refs.filter((_, i) => texts[i] === undefined);
    const loaded = missing.length === 0 ? [] : await this.#store.load(session, table, missing);
    for (const [i, ref] of missing.entries()) this.keep({ into: table, session, ref, json: loaded[i] ?? '' });
    const rest = loaded.values();
    return texts.map((text) => text ?? (rest.next().value as string));
  }
}

const keyOf = (session: string, table: BodyTable, { digest, bytes }: BodyRef): string =>
  `${table}/${session}/${digest}/${bytes}`;
