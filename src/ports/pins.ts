import type { SealedSkill } from '../agent/shape.ts';
import type { BodyRef } from '../session/envelopes.ts';

/** A pin's bytes, kept once by digest (P4). */
export interface PinRow {
  readonly into: 'pins';
  readonly ref: BodyRef;
  readonly json: string;
}

/** Bytes of a skill's file, kept once by their digest, whichever pins and catalog entries name them. */
export interface FileRow {
  readonly into: 'files';
  /** Of the bytes themselves. */
  readonly ref: BodyRef;
  readonly bytes: Uint8Array;
}

/** Where what is sealed lives. */
export type SealedTable = 'pins' | 'files';

/** Something sealed, without its bytes. */
export interface SealedEntry {
  readonly digest: string;
  readonly bytes: number;
  /** When it was last put or renewed, as ISO 8601; empty where that is not known. */
  readonly at: string;
}

/** Sealed shapes by digest (P4), and the bytes of the files that they name. */
export interface PinStore {
  /** @throws {PinCorruptError} when missing, truncated, undecodable or altered. */
  pin(digest: string): Promise<string>;
  /**
   * The bytes of many files, in the order asked, each verified against its digest.
   *
   * @throws {PinCorruptError} naming the first that is missing or altered.
   */
  files(refs: readonly BodyRef[]): Promise<Uint8Array[]>;
  /** Puts rows in place, over what is there under their digests. May be done again. */
  keep(rows: readonly (PinRow | FileRow)[]): Promise<void>;
  /** Says that what is there of these is needed now, so that a sweep spares it. Gives the digests that are there. */
  renew(table: SealedTable, digests: readonly string[]): Promise<Set<string>>;
  /** All there is in a table, by digest. */
  sealed(table: SealedTable): Promise<SealedEntry[]>;
  /** Deletes those of the digests that were last put or renewed before a time. Gives how many. */
  sweep(table: SealedTable, digests: readonly string[], before: string): Promise<number>;
}

/** A version of an agent: immutable (P2). */
export interface PublishedEntry {
  readonly name: string;
  readonly version: string;
  /** Of its pin. */
  readonly digest: string;
  readonly at: string;
}

/** Published agents by name and version. */
export interface Publications {
  /** Enters a version where it is not taken. Gives the entry that is there then. */
  publish(entry: PublishedEntry): Promise<PublishedEntry>;
  /** By name and version, of one name or all. */
  published(name?: string): Promise<PublishedEntry[]>;
}

/** A skill of the live catalog. The bytes of its files are those of the table of files. */
export interface SkillRow extends Pick<SealedSkill, 'name' | 'description' | 'body' | 'files'> {
  readonly at: string;
}

/** The live catalog of skills, by name. */
export interface SkillRows {
  putSkill(row: SkillRow): Promise<void>;
  skill(name: string): Promise<SkillRow | null>;
  /** By name. */
  skills(): Promise<SkillRow[]>;
  /** False where there is none of the name. */
  removeSkill(name: string): Promise<boolean>;
}
