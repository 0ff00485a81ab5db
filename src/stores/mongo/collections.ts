import type { Collection, Db } from 'mongodb';
import type { PublishedEntry, SkillRow } from '../../ports/pins.ts';
import type { CompletedRow, EvidenceRow, RecoverableEntry } from '../../ports/store.ts';

/** `_id` is `<session>/<id>`, which makes (session, id) unique; an index makes (session, seq) so. */
export interface EventDoc {
  readonly _id: string;
  readonly session: string;
  readonly seq: number;
  readonly id: string;
  readonly at: string;
  readonly type: string;
  readonly agent: string | null;
  readonly v: number;
  readonly writer?: { readonly resume: number; readonly epoch: number };
  /** Canonical JSON. */
  readonly data: string;
  /** SHA-256 of the whole envelope's canonical JSON. */
  readonly sum: string;
}

/** `_id` is `<session>/<digest>`. */
export interface BodyDoc {
  readonly _id: string;
  readonly session: string;
  readonly digest: string;
  readonly bytes: number;
  readonly json: string;
}

/** `_id` is the digest. */
export interface SealedDoc {
  readonly _id: string;
  readonly bytes: number;
  /** When it was last put or renewed; absent in documents of before. */
  readonly at?: string;
}

export interface PinDoc extends SealedDoc {
  readonly json: string;
}

/** Bytes that are UTF-8 are text, any others base64. */
export type FileDoc = SealedDoc & ({ readonly text: string } | { readonly base64: string });

/** `_id` is `<name>@<version>`. */
export type PublishedDoc = PublishedEntry & { readonly _id: string };

/** `_id` is the skill's name. */
export type SkillDoc = Omit<SkillRow, 'name'> & { readonly _id: string };

/** `_id` is `<agent>#<resume>.<epoch>.<slice>`. */
export interface ClaimDoc {
  readonly _id: string;
  readonly session: string;
  readonly agent: string;
  readonly resume: number;
  readonly epoch: number;
  readonly slice: number;
  readonly worker: string;
  readonly claimant: string;
  /** Of all other columns, `_id` included. */
  readonly sum: string;
}

/** `_id` is the evidence's id. `sum` is of all other columns, `_id` included. */
export type EvidenceDoc = Omit<EvidenceRow, 'into' | 'id'> & { readonly _id: string; readonly sum: string };

/** `_id` is the session. */
export type CompletedDoc = Omit<CompletedRow, 'into' | 'session'> & { readonly _id: string };

/**
 * `_id` is `<session>/<at>`. Written just before an event of seq 0, as an index to list sessions by: it counts only where
 * that event is there too.
 */
export interface SessionDoc {
  readonly _id: string;
  readonly session: string;
  readonly at: string;
  /** `_id` of the event. */
  readonly event: string;
}

/** `_id` is the session. `sum` is of all other columns, `_id` included. */
export type RecoverableDoc = Omit<RecoverableEntry, 'session'> & { readonly _id: string; readonly sum: string };

/** `_id` is the worker. */
export interface WorkerDoc {
  readonly _id: string;
  readonly taskQueue: string;
  readonly beatAt: string;
  readonly struck: boolean;
}

export interface Collections {
  readonly events: EventDoc;
  readonly bodies: BodyDoc;
  readonly messages: BodyDoc;
  readonly snapshots: BodyDoc;
  readonly pins: PinDoc;
  readonly files: FileDoc;
  readonly published: PublishedDoc;
  readonly skills: SkillDoc;
  readonly effects: EvidenceDoc;
  readonly dispatches: ClaimDoc;
  readonly completed: CompletedDoc;
  readonly sessions: SessionDoc;
  readonly recoverable: RecoverableDoc;
  readonly workers: WorkerDoc;
}

/** A collection by its name, with the type of its documents. */
export const collection = <Name extends keyof Collections>(db: Db, name: Name): Collection<Collections[Name]> =>
  db.collection<Collections[Name]>(name);
