import type { BySession, RecoverableEntry, RecoveryIndex } from '../../ports/store.ts';
import { pageOf } from '../order.ts';

/** The sessions that are left for people. */
export class Recoverable implements Omit<RecoveryIndex, 'unfinished' | 'rebuildIndexes'> {
  readonly #entries = new Map<string, RecoverableEntry>();

  async list(entry: RecoverableEntry): Promise<void> {
    this.#entries.set(entry.session, Object.freeze({ ...entry }));
  }

  async unlist(session: string): Promise<void> {
    this.#entries.delete(session);
  }

  async listed(session: string): Promise<RecoverableEntry | null> {
    return this.#entries.get(session) ?? null;
  }

  async allListed(page: BySession = {}): Promise<RecoverableEntry[]> {
    return pageOf(this.#entries.values(), ({ session }) => session, page);
  }
}
