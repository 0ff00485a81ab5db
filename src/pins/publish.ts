import { AgentNotFoundError, PinCorruptError } from '../contract/errors.ts';
import { VersionConflictError } from '../contract/pin-errors.ts';
import type { PinStore, Publications, PublishedEntry } from '../ports/pins.ts';
import { keepSealed } from './keep.ts';
import { checkPin } from './open.ts';
import type { Sealed } from './seal.ts';

type Store = PinStore & Publications;

/** What became of a version: it is new; it was there, whole; it was there, and what was missing or altered of it is back. */
export type PublishOutcome = 'published' | 'unchanged' | 'restored';

/** A published version, and what became of it. */
export interface Publication extends PublishedEntry {
  readonly outcome: PublishOutcome;
}

/**
 * Publishes what was sealed under its name and version (P2). The same bytes again change nothing, except that what is missing or
 * altered of them is put back.
 *
 * @throws {VersionConflictError} where the version is published with other bytes. Nothing is stored.
 */
export async function publish(store: Store, sealed: Sealed): Promise<Publication> {
  const { name, version } = sealed.pinned;
  const { digest } = sealed.pin.ref;
  const there = await entryOf(store, name, version);
  if (there !== undefined) return mend(store, there, sealed);
  await keepSealed(store, sealed);
  const entry = await store.publish({ name, version, digest, at: new Date().toISOString() });
  if (entry.digest !== digest) throw new VersionConflictError(name, version, entry.digest, digest);
  return { ...entry, outcome: 'published' };
}

/**
 * Checks that a published version is whole, and puts back what is missing or altered where what was sealed has the same bytes.
 *
 * @throws {AgentNotFoundError} where it is not published. {@link VersionConflictError} where it is, with other bytes.
 */
export async function verifySealed(store: Store, sealed: Sealed): Promise<Publication> {
  const { name, version } = sealed.pinned;
  const there = await entryOf(store, name, version);
  if (there !== undefined) return mend(store, there, sealed);
  const versions = await store.published(name);
  const known = versions.map((entry) => `${name}@${entry.version}`);
  throw new AgentNotFoundError(`${name}@${version}`, known, { where: 'that is published' });
}

/** Checks that a published version is whole. @throws {PinCorruptError} */
export async function verifyPublished(store: PinStore, entry: PublishedEntry): Promise<Publication> {
  await checkPin(store, { kind: 'bundle', ...entry });
  return { ...entry, outcome: 'unchanged' };
}

async function mend(store: Store, there: PublishedEntry, sealed: Sealed): Promise<Publication> {
  const { name, version, digest } = there;
  if (digest !== sealed.pin.ref.digest) throw new VersionConflictError(name, version, digest, sealed.pin.ref.digest);
  try {
    return await verifyPublished(store, there);
  } catch (error) {
    if (!(error instanceof PinCorruptError)) throw error;
    await store.keep([...sealed.files, sealed.pin]);
    return { ...there, outcome: 'restored' };
  }
}

const entryOf = async (store: Publications, name: string, version: string): Promise<PublishedEntry | undefined> =>
  (await store.published(name)).find((entry) => entry.version === version);
