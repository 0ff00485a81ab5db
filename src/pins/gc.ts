import type { SealedEntry } from '../ports/pins.ts';
import type { Stores } from '../ports/store.ts';
import { neededPins } from './needed.ts';
import { filesOf, loadPin } from './open.ts';

/** What a sweep took, or would take. */
export interface Swept {
  /** Pins that nobody names. */
  readonly pins: readonly SealedEntry[];
  /** Files that no pin and no skill of the catalog names. */
  readonly files: readonly SealedEntry[];
  /** How many of each stay. */
  readonly kept: { readonly pins: number; readonly files: number };
}

export interface SweepOptions {
  /** Says what would go, and deletes nothing. */
  readonly dryRun: boolean;
  /** Spared, though nobody names it: what was stored or needed so short a time ago, in milliseconds. */
  readonly minAgeMs: number;
  /** Default: the clock. */
  readonly now?: number;
}

type Store = Pick<Stores, 'pin' | 'published' | 'read' | 'sealed' | 'sessions' | 'skills' | 'sweep'>;

/**
 * Deletes pins that no session and no published version names, and files that no pin and no skill of the catalog names. A session that is
 * being started, or a version that is being published, has put or renewed what it needs just before: that is younger than the margin.
 *
 * @throws {LogUnreadableError} where it cannot be known what a session is pinned to, {@link PinCorruptError} where it cannot be
 * known which files a pin names. Nothing is deleted then.
 */
export async function sweepPins(store: Store, options: SweepOptions): Promise<Swept> {
  const { dryRun, minAgeMs, now = Date.now() } = options;
  const before = new Date(now - minAgeMs).toISOString();
  const pins = await store.sealed('pins');
  const files = await store.sealed('files');
  const needed = await neededPins(store);
  const old = pins.filter(({ digest, at }) => !needed.has(digest) && at < before);
  const gone = new Set(old.map(({ digest }) => digest));
  const stay = pins.filter(({ digest }) => !gone.has(digest)).map(({ digest }) => digest);
  const named = await namedFiles(store, stay);
  const unnamed = files.filter(({ digest, at }) => !named.has(digest) && at < before);
  if (!dryRun) {
    // First what points, so that nothing points at what is gone.
    await store.sweep('pins', [...gone], before);
    await store.sweep(
      'files',
      unnamed.map(({ digest }) => digest),
      before,
    );
  }
  return {
    pins: old,
    files: unnamed,
    kept: { pins: pins.length - old.length, files: files.length - unnamed.length },
  };
}

async function namedFiles(store: Store, pins: readonly string[]): Promise<Set<string>> {
  const named = new Set<string>();
  for (const digest of pins) {
    for (const file of filesOf(await loadPin(store, { digest }))) named.add(file.digest);
  }
  for (const { body, files } of await store.skills()) {
    for (const { digest } of [body, ...files]) named.add(digest);
  }
  return named;
}
