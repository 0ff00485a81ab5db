import { PinCorruptError, SessionNotFoundError, SkillNotInBundleError } from '../contract/errors.ts';
import { checkStarted } from '../plugin/backends.ts';
import type { Audit, RowFault } from '../ports/audit.ts';
import type { BodyTable, Stores } from '../ports/store.ts';
import type { Envelope, EventType } from '../session/envelopes.ts';
import { advance, noFences } from '../session/fences.ts';
import { bodyRefsOf } from './body-refs.ts';
import { checkJournal, type EffectCounts } from './journal-check.ts';
import { logProblems } from './log-check.ts';

export const problemCodes = [
  'LOG_UNREADABLE',
  'BODY_MISSING',
  'PIN_CORRUPT',
  'SKILL_NOT_IN_BUNDLE',
  'JOURNAL_INCONSISTENT',
  'INDEX_INCONSISTENT',
  'ROW_ALTERED',
] as const;

/** Something of a session that does not hold. */
export interface Problem {
  /** The event it was found at; null where it is about none. */
  readonly seq: number | null;
  /**
   * `LOG_UNREADABLE` an event is missing, altered or contradicts those before it; `BODY_MISSING` a body is missing or altered;
   * `PIN_CORRUPT`; `SKILL_NOT_IN_BUNDLE`; `JOURNAL_INCONSISTENT` intents and outcomes do not add up; `INDEX_INCONSISTENT` the record says something
   * else than the log; `ROW_ALTERED` a claim, late evidence or what was decided on recovery is altered or missing.
   */
  readonly code: (typeof problemCodes)[number];
  readonly message: string;
}

/** What `verify` found. */
export interface Verification {
  readonly session: string;
  readonly ok: boolean;
  /** All that were found, not only the first. */
  readonly problems: readonly Problem[];
  /** Events, and distinct bodies that were checked. */
  readonly events: number;
  readonly bodies: number;
  readonly effects: EffectCounts;
  /** Whether nothing can be missing at its end: the session is over, or Temporal has said how far the log reaches. */
  readonly isEndKnown: boolean;
}

/** What another than the log has heard of a session, before the log is looked at. */
export interface Witness {
  readonly lastSeq: number | null;
  /** It has come to its end by itself. */
  readonly isOver: boolean;
}

/** Nothing is known but the log. */
const noWitness: Witness = { lastSeq: null, isOver: false };

const TABLES: readonly BodyTable[] = ['bodies', 'messages', 'snapshots'];

/**
 * Checks all that a session's record promises: the log gapless, readable and not shorter than anybody knew (L2, L8), every body
 * and the pin present and matching (L4, P4), the effect journal consistent (E3), claims and evidence as they were written,
 * and the indexes as the log says (F6). Goes on after what is wrong, as far as that can be.
 *
 * @throws {SessionNotFoundError}
 */
export async function verifySession(
  stores: Stores,
  session: string,
  witness: Witness = noWitness,
): Promise<Verification> {
  const audit = await stores.audit(session);
  const { envelopes, lastSeq, completed, faults } = audit;
  if (lastSeq < 0 && completed === null && faults.length === 0 && !hasWitness(witness))
    throw new SessionNotFoundError(session);
  const bodies = await bodyProblems(stores, session, envelopes);
  const { faults: wrong, effects } = checkJournal(envelopes);
  const problems: Problem[] = [
    ...logProblems(session, audit, witness),
    ...bodies.problems,
    ...(await pinProblems(stores, envelopes)),
    ...wrong.map(({ seq, problem }) => ({ seq, code: 'JOURNAL_INCONSISTENT', message: `${problem}.` }) as const),
    ...faults.filter((fault) => fault.in !== 'events').map(problemOf),
    ...claimProblems(audit),
  ];
  const ok = problems.length === 0;
  const isEndKnown = completed !== null || hasWitness(witness) || isOver(session, envelopes);
  return { session, ok, problems, events: envelopes.length, bodies: bodies.count, effects, isEndKnown };
}

const hasWitness = ({ isOver, lastSeq }: Witness): boolean => isOver || lastSeq !== null;

/** Whether the root's end is on the log, after which nothing is (F3). */
function isOver(session: string, log: readonly Envelope[]): boolean {
  const fences = noFences(session);
  for (const envelope of log) advance(fences, envelope);
  return fences.terminal !== null;
}

const problemOf = ({ in: table, seq, why }: RowFault): Problem =>
  table === 'sessions'
    ? { seq, code: 'INDEX_INCONSISTENT', message: `${why}; \`apomesh recover --rebuild\` makes it again from the log.` }
    : { seq, code: 'ROW_ALTERED', message: `${why}; restore it from a backup.` };

async function bodyProblems(
  stores: Stores,
  session: string,
  log: readonly Envelope[],
): Promise<{ problems: Problem[]; count: number }> {
  const pointed = log.flatMap(bodyRefsOf);
  const problems: Problem[] = [];
  let count = 0;
  for (const table of TABLES) {
    const keyed = pointed
      .filter((one) => one.table === table)
      .map((one) => [`${one.ref.digest}/${one.ref.bytes}`, one] as const);
    const distinct = [...new Map(keyed.reverse()).values()].reverse();
    const faults = await stores.bodyFaults(
      session,
      table,
      distinct.map(({ ref }) => ref),
    );
    count += distinct.length;
    for (const [i, { seq, ref }] of distinct.entries()) {
      const fault = faults[i];
      if (!fault) continue;
      const message = `the body ${ref.digest} in ${table} is ${fault}; restore it from a backup.`;
      problems.push({ seq, code: 'BODY_MISSING', message });
    }
  }
  return { problems, count };
}

async function pinProblems(stores: Stores, log: readonly Envelope[]): Promise<Problem[]> {
  const [first] = log;
  if (first?.type !== 'SessionStarted') return [];
  try {
    await checkStarted(stores, first.data);
    return [];
  } catch (error) {
    if (!(error instanceof PinCorruptError || error instanceof SkillNotInBundleError)) throw error;
    return [{ seq: 0, code: error.code, message: error.message }];
  }
}

/** What only a claim's holder logs. */
const CLAIMED: ReadonlySet<EventType> = new Set(['GenerationCompleted', 'ToolCallStarted']);

/**
 * What a dispatch logged has its claim before it (W4). Once the session is over the claims have done their work, and may be
 * gone.
 */
function claimProblems({ envelopes, claims, completed, faults }: Audit): Problem[] {
  if (completed !== null || faults.some((fault) => fault.in === 'dispatches')) return [];
  const claimed = new Set(claims.map(({ agent, resume, epoch }) => `${agent}#${resume}.${epoch}`));
  const problems: Problem[] = [];
  for (const { seq, type, agent, writer } of envelopes) {
    if (!CLAIMED.has(type) || !writer) continue;
    const dispatch = `${agent}#${writer.resume}.${writer.epoch}`;
    if (claimed.has(dispatch)) continue;
    claimed.add(dispatch);
    const message = `there is no claim of ${dispatch}, which logged this; restore it from a backup.`;
    problems.push({ seq, code: 'ROW_ALTERED', message });
  }
  return problems;
}
