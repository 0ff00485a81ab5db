import { UsageError } from '../contract/errors.ts';
import { type Exported, exportPins, type Imported, importPins } from '../pins/archive.ts';
import { type Swept, sweepPins } from '../pins/gc.ts';
import { neededPins } from '../pins/needed.ts';
import type { NamedPin } from '../pins/open.ts';
import { selectVersion, splitName } from '../pins/select.ts';
import type { TextPieces } from '../pins/text-lines.ts';
import type { PublishedEntry } from '../ports/pins.ts';
import type { Stores } from '../ports/store.ts';
import { leastSweepAgeMs } from './limits.ts';

export type { Exported, Imported, Swept };

const DIGEST = /^sha256:[0-9a-f]{64}$/;

const WHERE_LISTED =
  '`apomesh agents` lists those of published versions, `apomesh show SESSION` has that of a session.';

/** What sessions are pinned to: backups and housekeeping (P4). */
export class Bundles {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /**
   * Pins with all that they name, as lines of NDJSON, each with its end: what a stream may write to a file, and `import` takes.
   * Returns how many there were of each.
   *
   * @param names digests, names of published agents (all their versions), `name@version` or `name@range`. Default: all pins that there
   * are, and all that a published version or a session names.
   * @throws {PinCorruptError} where one is missing or altered: what was given until then is no backup. {@link AgentNotFoundError}
   * {@link UsageError} where there is no pin of a digest. {@link LogUnreadableError} where all are asked for, and it cannot be known
   * what a session is pinned to.
   */
  async *export(names: readonly string[] = []): AsyncGenerator<string, Exported, undefined> {
    return yield* exportPins(this.#stores, names.length > 0 ? await this.#named(names) : await this.#all());
  }

  async #all(): Promise<NamedPin[]> {
    const there = await this.#stores.sealed('pins');
    const needed = await neededPins(this.#stores);
    const others = there.filter(({ digest }) => !needed.has(digest)).map(({ digest }) => ({ digest }));
    return [...needed.values(), ...others];
  }

  async #named(names: readonly string[]): Promise<NamedPin[]> {
    for (const name of names) {
      if (!name.startsWith('sha256:') || DIGEST.test(name)) continue;
      throw new UsageError(`${name} is no digest: that is sha256: and 64 of 0-9 a-f. ${WHERE_LISTED}`, { name });
    }
    const published = await this.#stores.published();
    const pins = await Promise.all(
      names.map((name) => (DIGEST.test(name) ? this.#pin(name, published) : versionsOf(name, published))),
    );
    return pins.flat();
  }

  async #pin(digest: string, published: readonly PublishedEntry[]): Promise<NamedPin> {
    const entry = published.find((each) => each.digest === digest);
    if (entry !== undefined) return entry;
    if ((await this.#stores.sealed('pins')).some((each) => each.digest === digest)) return { digest };
    const needed = (await neededPins(this.#stores)).get(digest);
    if (needed !== undefined) return needed;
    throw new UsageError(`there is no pin ${digest}. ${WHERE_LISTED}`, { digest });
  }

  /**
   * Puts back what was exported, over what is there under the same digests. All of it is checked before anything is stored.
   *
   * @param text of an export, or its pieces: what `export` gives, or the stream of a file.
   * @param file for messages.
   * @throws {FileInvalidError} {@link VersionConflictError}
   */
  async import(text: TextPieces, file = 'the import'): Promise<Imported> {
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

/** All versions of a bare name, else the one that is meant. */
function versionsOf(wanted: string, published: readonly PublishedEntry[]): readonly PublishedEntry[] {
  const [name, range] = splitName(wanted);
  const versions = range === undefined ? published.filter((entry) => entry.name === name) : [];
  return versions.length > 0 ? versions : [selectVersion(wanted, published)];
}

export interface GcOptions {
  /** Says what would go, and deletes nothing. Default false. */
  readonly dryRun?: boolean;
  /** Default 1 day, at least 1 hour: a session that is being started needs what no event names yet. */
  readonly minAgeMs?: number;
}
