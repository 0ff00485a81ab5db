import { SessionLiveError, StoreUnreachableError, TemporalUnreachableError } from '../contract/errors.ts';
import { addCounts, type Finding, type FindingCounts } from '../contract/recovery.ts';
import type { RecoverableEntry, RecoveryIndex, Stores } from '../ports/store.ts';
import { completedOf } from '../session/completed.ts';
import { byCodePoint } from '../session/order.ts';
import { isListed } from '../session/recovery.ts';
import { empty } from '../session/view.ts';
import { closingOf, type Examined, examine, type Ground } from './classify.ts';
import { startResume } from './resume.ts';

export interface ScanOptions {
  /** Nothing is resumed, mended or listed. Default false. */
  readonly dryRun?: boolean;
  /** Goes on after this session. Default: from the start. */
  readonly after?: string | null;
  /** Sessions of one page. Default 1,000. */
  readonly limit?: number;
  /** Heartbeat threshold that a resumed session runs with, in milliseconds. */
  readonly heartbeatTimeoutMs: number;
  /** Called with each session once it is seen to. */
  readonly onFound?: (finding: Finding) => void | Promise<void>;
  readonly signal?: AbortSignal;
}

const PAGE = 1_000;

/** Sessions looked at together. */
const AT_ONCE = 8;

/**
 * One page of the boot scan (R1, R2), over the sessions that have no completed record: resumes those that are lost and free of
 * side effects, mends the record of those that are over, and lists the rest.
 *
 * @returns the session to go on after, or null at the end.
 */
export async function scanPage(ground: Ground, options: ScanOptions): Promise<string | null> {
  const { after = null, limit = PAGE, dryRun = false, signal } = options;
  const { stores } = ground;
  const sessions = await stores.unfinished({ limit, ...(after !== null && { after }) });
  const next = sessions.length < limit ? null : (sessions.at(-1) ?? null);
  const listed = await listedBetween(stores, after, next);
  for (let i = 0; i < sessions.length; i += AT_ONCE) {
    signal?.throwIfAborted();
    const some = sessions.slice(i, i + AT_ONCE);
    for (const finding of await Promise.all(some.map((session) => seeTo(ground, session, listed, options))))
      if (finding) await options.onFound?.(finding);
  }
  const open = new Set(sessions);
  if (!dryRun) for (const session of listed.keys()) if (!open.has(session)) await stores.unlist(session);
  return next;
}

/** The whole scan. Gives how many there are of each class. */
export async function scan(ground: Ground, options: Omit<ScanOptions, 'after'>): Promise<FindingCounts> {
  let counts: FindingCounts = {};
  const onFound: ScanOptions['onFound'] = (finding) => {
    counts = addCounts(counts, { [finding.class]: 1 });
    return options.onFound?.(finding);
  };
  let after: string | null = null;
  do after = await scanPage(ground, { ...options, after, onFound });
  while (after !== null);
  return counts;
}

async function seeTo(
  ground: Ground,
  session: string,
  listed: ReadonlyMap<string, RecoverableEntry>,
  options: ScanOptions,
): Promise<Finding | null> {
  const examined = await lookAt(ground, session);
  if (examined === null) return null;
  const entry = listed.get(session);
  if (isUnfit(examined, entry)) return { session, class: 'pin', why: entry.why };
  const acted = options.dryRun ? examined : await act(ground, await takenUp(ground, examined, options), entry);
  return { session, class: acted.class, why: acted.why };
}

/** One that cannot be looked at, whatever the reason, does not hold up the others. */
async function lookAt(ground: Ground, session: string): Promise<Examined | null> {
  try {
    return await examine(ground, session);
  } catch (error) {
    if (isOutage(error)) throw error;
    const why = `it cannot be looked at: ${error}`;
    return { session, class: 'unreadable', why, view: empty, first: undefined, last: undefined, workflow: null };
  }
}

const isOutage = (error: unknown): boolean =>
  error instanceof StoreUnreachableError || error instanceof TemporalUnreachableError;

/** Takes up what is to be. One that cannot be, whatever the reason, is left for an operator and does not hold up the others. */
async function takenUp(ground: Ground, examined: Examined, { heartbeatTimeoutMs }: ScanOptions): Promise<Examined> {
  if (examined.class !== 'resume') return examined;
  try {
    await startResume(ground, examined, { cause: 'boot-scan', effects: 'reuse', heartbeatTimeoutMs });
    return examined;
  } catch (error) {
    if (error instanceof SessionLiveError) return { ...examined, class: 'live', why: 'another took it up first' };
    if (isOutage(error)) throw error;
    return { ...examined, class: 'failing', why: `it cannot be resumed: ${error}` };
  }
}

/**
 * A live session that a worker listed because it cannot be run there as it was pinned: it stays listed until it is dispatched to one
 * where it can, which takes it off the list.
 */
const isUnfit = (examined: Examined, listed: RecoverableEntry | undefined): listed is RecoverableEntry =>
  examined.class === 'live' && listed?.class === 'pin' && listed.by === 'worker';

async function act(
  { stores, now = Date.now }: Ground,
  examined: Examined,
  listed: RecoverableEntry | undefined,
): Promise<Finding> {
  const { session, why } = examined;
  if (isListed(examined.class)) {
    const at = new Date(now()).toISOString();
    const closed = examined.workflow?.isOpen || examined.class === 'closed' || !listed ? null : closingOf(listed);
    const entry = { session, class: examined.class, why, at, ...(closed !== null && { closed }) };
    if (listed?.class !== entry.class || listed.why !== why) await stores.list(entry);
    return examined;
  }
  if (listed) await stores.unlist(session);
  if (examined.class === 'terminal') await mend(stores, examined);
  return examined;
}

/** Writes the completed record that a terminal session lacks (F6). */
async function mend(stores: Stores, { view, last }: Examined): Promise<void> {
  const record = completedOf(view, last);
  if (record !== null) await stores.write([{ into: 'completed', ...record }]);
}

/** What is listed after one session, up to another; to the end where that is null. */
async function listedBetween(
  stores: RecoveryIndex,
  after: string | null,
  upTo: string | null,
): Promise<Map<string, RecoverableEntry>> {
  const found = new Map<string, RecoverableEntry>();
  for (let from = after; ; ) {
    const entries = await stores.allListed({ limit: PAGE, ...(from !== null && { after: from }) });
    for (const entry of entries)
      if (upTo === null || byCodePoint(entry.session, upTo) <= 0) found.set(entry.session, entry);
    const last = entries.at(-1)?.session;
    if (entries.length < PAGE || last === undefined || (upTo !== null && byCodePoint(last, upTo) >= 0)) return found;
    from = last;
  }
}
