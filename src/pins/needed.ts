import type { Stores } from '../ports/store.ts';
import type { Pin } from '../session/envelopes.ts';

type Store = Pick<Stores, 'published' | 'read' | 'sessions'>;

/** Sessions that are looked at together. */
const SESSIONS_AT_ONCE = 100;

/**
 * The pins of published versions and of all sessions on the log, by digest, whether they are there or not.
 *
 * @throws {LogUnreadableError} where it cannot be known what a session is pinned to.
 */
export async function neededPins(store: Store): Promise<Map<string, Pin>> {
  const needed = new Map<string, Pin>();
  for (const entry of await store.published()) needed.set(entry.digest, { kind: 'bundle', ...entry });
  for (let before: { startedAt: string; session: string } | undefined; ; ) {
    const page = await store.sessions({ limit: SESSIONS_AT_ONCE, ...(before && { before }) });
    const firsts = await Promise.all(page.map(({ session }) => store.read(session, 0, 1)));
    for (const [first] of firsts) {
      if (first?.type === 'SessionStarted' && !needed.has(first.data.pin.digest))
        needed.set(first.data.pin.digest, first.data.pin);
    }
    before = page.at(-1);
    if (before === undefined || page.length < SESSIONS_AT_ONCE) return needed;
  }
}
