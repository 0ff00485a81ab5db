import { UsageError } from '../contract/errors.ts';
import { exportPins, type Imported, importPins } from '../pins/archive.ts';
import { type Swept, sweepPins } from '../pins/gc.ts';
import { selectVersion } from '../pins/select.ts';
import type { Stores } from '../ports/store.ts';
import { leastSweepAgeMs } from './limits.ts';

export type { Imported, Swept };

/** What sessions are pinned to: backups and housekeeping (P4). */
export class Bundles {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /**
   * Pins with all that they name, as lines of NDJSON.
   *
   * @param names digests, or `name@version` of published agents. Default: all pins there are.
   * @throws {PinCorruptError} {@link AgentNotFoundError}
   */
  async *export(names: readonly string[] = []): AsyncGenerator<string, void, undefined> {
    const published = await this.#stores.published();
    const digests = names.map((name) => (name.startsWith('sha256:') ? name : selectVersion(name, published).digest));
    const all = async () => (await this.#stores.sealed('pins')).map(({ digest }) => digest);
    yield* exportPins(this.#stores, names.length > 0 ? digests : await all());
  }

  /**
   * Puts back what was exported, over what is there under the same digests. All of it is checked before anything is stored.
   *
   * @param file for messages.
   * @throws {FileInvalidError} {@link VersionConflictError}
   */
  async import(text: string, file = 'the import'): Promise<Imported> {
    await this.#stores.prepare();
    return importPins(this.#stores, text, file);
  }

  /**
   * Deletes pins that no session and no published version names, and files that no pin and no skill of the catalog names.
   *
   * @param minAgeMs what was stored or needed later is spared, in milliseconds. Default 1 day, at least 1 hour.
   */
  async gc({ dryRun = false, minAgeMs = leastSweepAgeMs.byDefault }: GcOptions = {}): Promise<Swept> {
    if (!(minAgeMs >= leastSweepAgeMs.least)) {
      throw new UsageError('what is younger than 1 hour is spared: give at least that.', { field: 'minAgeMs' });
    }
    return sweepPins(this.#stores, { dryRun, minAgeMs });
  }
}

export interface GcOptions {
  /** Says what would go, and deletes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Default 1 day, at least 1 hour: a session that is being started needs what no event names yet. */
  readonly minAgeMs?: number;
}
