import { LogUnreadableError } from '../contract/errors.ts';
import type { SessionEntry, Stores } from '../ports/store.ts';
import type { Phase } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';

export interface ListOptions {
  /** Default 100. */
  readonly limit?: number;
  /** Only those whose root is in this phase. */
  readonly phase?: Phase;
}

/** One session of a list. */
export interface SessionSummary {
  readonly session: string;
  /** Name of the agent; null where the log does not say. */
  readonly agent: string | null;
  /** The root's; null where the log cannot be read. */
  readonly phase: Phase | null;
  readonly reason: string | null;
  readonly startedAt: string;
  /** Null while it goes on. */
  readonly endedAt: string | null;
  readonly lastSeq: number;
  /** How many pauses are open. */
  readonly pauses: number;
  readonly goal: string | null;
  /** What it is listed as where it waits for an operator (R2), as of the latest scan; else null. */
  readonly recoverable: string | null;
  /** Why the log cannot be read; null where it can. */
  readonly unreadable: string | null;
}

/** Logs read at once. */
const AT_ONCE = 8;

/** Entries asked for at once. */
const PAGE = 100;

/** Sessions, the newest first. Of one that is over the first event is read, of the others the whole log. */
export async function listSessions(
  stores: Pick<Stores, 'read' | 'sessions' | 'allListed'>,
  { limit = 100, phase }: ListOptions,
): Promise<SessionSummary[]> {
  const found: SessionSummary[] = [];
  const listed = new Map((await stores.allListed()).map((entry) => [entry.session, entry.class]));
  let before: SessionEntry | undefined;
  while (found.length < limit) {
    const size = phase === undefined ? Math.min(PAGE, limit - found.length) : PAGE;
    const page = await stores.sessions({ limit: size, ...(before && { before }) });
    for (let i = 0; i < page.length; i += AT_ONCE) {
      const some = await Promise.all(
        page.slice(i, i + AT_ONCE).map((entry) => summaryOf(stores, entry, listed.get(entry.session))),
      );
      found.push(...some.filter((one) => phase === undefined || one.phase === phase));
    }
    before = page.at(-1);
    if (page.length < size) break;
  }
  return found.slice(0, limit);
}

async function summaryOf(
  stores: Pick<Stores, 'read'>,
  entry: SessionEntry,
  listed: string | undefined,
): Promise<SessionSummary> {
  const { session, startedAt, completed } = entry;
  const unknown: SessionSummary = {
    session,
    agent: null,
    phase: null,
    reason: null,
    startedAt,
    endedAt: completed?.at ?? null,
    lastSeq: completed?.lastSeq ?? -1,
    pauses: 0,
    goal: null,
    recoverable: completed === null ? (listed ?? null) : null,
    unreadable: null,
  };
  try {
    const log = await stores.read(session, 0, completed === null ? undefined : 1);
    const view = fold(log);
    const { goal = null, shape } = view.bootstrap ?? {};
    const agent = typeof shape?.['agent'] === 'string' ? shape['agent'] : null;
    const known = { ...unknown, goal, agent };
    if (completed !== null) return { ...known, phase: completed.phase, reason: completed.reason };
    const { reason, lastSeq } = view;
    const phase = (view.root === null ? undefined : view.agents[view.root]?.phase) ?? 'born';
    const endedAt = view.terminal ? (log.at(-1)?.at ?? null) : null;
    const going = view.terminal ? { recoverable: null, pauses: 0 } : { pauses: view.pauses.length };
    return { ...known, phase, reason, endedAt, lastSeq, ...going };
  } catch (error) {
    if (!(error instanceof LogUnreadableError)) throw error;
    return { ...unknown, unreadable: error.message };
  }
}
