import { PinCorruptError } from '../../contract/errors.ts';
import type {
  FileRow,
  PinRow,
  PinStore,
  Publications,
  PublishedEntry,
  SealedTable,
  SkillRow,
  SkillRows,
} from '../../ports/pins.ts';
import { bodyFault, fileFault } from '../bodies.ts';
import { byVersion } from '../order.ts';

interface Sealed<Row> {
  readonly row: Row;
  readonly at: string;
}

/** Pins and the files that they name. */
export class SealedTables implements PinStore {
  readonly #pins = new Map<string, Sealed<PinRow>>();
  readonly #files = new Map<string, Sealed<FileRow>>();
  /** Rows whose text was seen to fit its digest; none can change. */
  readonly #verified = new WeakSet<PinRow>();

  async pin(digest: string): Promise<string> {
    const row = this.#pins.get(digest)?.row;
    if (row === undefined) throw new PinCorruptError(digest, 'missing');
    if (!this.#verified.has(row) && bodyFault(row.json, row.ref) !== null) throw new PinCorruptError(digest, 'altered');
    this.#verified.add(row);
    return row.json;
  }

  async files(refs: Parameters<PinStore['files']>[0]): Promise<Uint8Array[]> {
    return refs.map((ref) => {
      const bytes = this.#files.get(ref.digest)?.row.bytes;
      const fault = fileFault(bytes, ref);
      if (bytes === undefined || fault !== null) throw new PinCorruptError(ref.digest, fault ?? 'missing');
      return bytes.slice();
    });
  }

  async keep(rows: readonly (PinRow | FileRow)[]): Promise<void> {
    const at = new Date().toISOString();
    for (const row of rows) {
      const ref = { ...row.ref };
      if (row.into === 'pins') this.#pins.set(ref.digest, { row: { ...row, ref }, at });
      else this.#files.set(ref.digest, { row: { ...row, ref, bytes: row.bytes.slice() }, at });
    }
  }

  async renew(table: SealedTable, digests: readonly string[]): Promise<Set<string>> {
    const at = new Date().toISOString();
    const rows = this.#table(table);
    const there = new Set(digests.filter((digest) => rows.has(digest)));
    for (const digest of there) rows.set(digest, { ...(rows.get(digest) as Sealed<PinRow & FileRow>), at });
    return there;
  }

  async sealed(table: SealedTable) {
    return [...this.#table(table)]
      .map(([digest, { row, at }]) => ({ digest, bytes: row.ref.bytes, at }))
      .sort((a, b) => (a.digest < b.digest ? -1 : 1));
  }

  async sweep(table: SealedTable, digests: readonly string[], before: string): Promise<number> {
    const rows = this.#table(table);
    const old = digests.filter((digest) => (rows.get(digest)?.at ?? before) < before);
    return old.filter((digest) => rows.delete(digest)).length;
  }

  #table(table: SealedTable): Map<string, Sealed<PinRow | FileRow>> {
    return (table === 'pins' ? this.#pins : this.#files) as Map<string, Sealed<PinRow | FileRow>>;
  }
}

/** Published versions, and the live catalog of skills. */
export class Configured implements Publications, SkillRows {
  readonly #published = new Map<string, PublishedEntry>();
  readonly #skills = new Map<string, SkillRow>();

  async publish(entry: PublishedEntry): Promise<PublishedEntry> {
    const key = `${entry.name}@${entry.version}`;
    const there = this.#published.get(key) ?? Object.freeze({ ...entry });
    this.#published.set(key, there);
    return there;
  }

  async published(name?: string): Promise<PublishedEntry[]> {
    return [...this.#published.values()].filter((entry) => name === undefined || entry.name === name).sort(byVersion);
  }

  async putSkill(row: SkillRow): Promise<void> {
    this.#skills.set(row.name, structuredClone(row));
  }

  async skill(name: string): Promise<SkillRow | null> {
    return structuredClone(this.#skills.get(name) ?? null);
  }

  async skills(): Promise<SkillRow[]> {
    return structuredClone([...this.#skills.values()].sort((a, b) => (a.name < b.name ? -1 : 1)));
  }

  async removeSkill(name: string): Promise<boolean> {
    return this.#skills.delete(name);
  }
}
