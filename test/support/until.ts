import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` gives something, and gives it. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain until ${what}`);
    await sleep(30);
  }
}
