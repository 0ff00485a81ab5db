import type { PinStore } from '../ports/pins.ts';
import type { Sealed } from './seal.ts';

/**
 * Stores what was sealed, or says of what is stored already that it is needed now, so that no sweep takes it before an event
 * or a published version names it.
 */
export async function keepSealed(store: Pick<PinStore, 'keep' | 'renew'>, { pin, files }: Sealed): Promise<void> {
  const digests = files.map(({ ref }) => ref.digest);
  const there = digests.length > 0 ? await store.renew('files', digests) : new Set<string>();
  await store.keep([...files.filter(({ ref }) => !there.has(ref.digest)), pin]);
}
