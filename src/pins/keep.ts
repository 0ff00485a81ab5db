import type { FileRow, PinStore } from '../ports/pins.ts';
import type { Sealed } from './seal.ts';

/**
 * Stores what was sealed, or says of what is stored already that it is needed now, so that no sweep takes it before an event
 * or a published version names it.
 */
export async function keepSealed(store: Pick<PinStore, 'keep' | 'renew'>, { pin, files }: Sealed): Promise<void> {
  await keepFiles(store, files);
  await store.keep([pin]);
}

/** As {@link keepSealed}, of files alone. */
export async function keepFiles(store: Pick<PinStore, 'keep' | 'renew'>, files: readonly FileRow[]): Promise<void> {
  if (files.length === 0) return;
  const there = await store.renew(
    'files',
    files.map(({ ref }) => ref.digest),
  );
  await store.keep(files.filter(({ ref }) => !there.has(ref.digest)));
}
