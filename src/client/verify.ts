import { ApomeshError, BodyMissingError, LogUnreadableError, SessionNotFoundError } from '../contract/errors.ts';
import { checkPin } from '../plugin/backends.ts';
import type { BodyTable, Stores } from '../ports/store.ts';
import type { Envelope } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';
import { bodyRefsOf, type PointedBody } from './body-refs.ts';
import { checkJournal, type EffectCounts } from './journal-check.ts';

/** Something of a session that does not hold. */
export interface Problem {
  /** The event it was found at; null where it is about none. */
  readonly seq: number | null;
  /** `LOG_UNREADABLE`, `BODY_MISSING`, `PIN_CORRUPT` or `JOURNAL_INCONSISTENT`. */
  readonly code: string;
  readonly message: string;
}

/** What `verify` found. */
export interface Verification {
  readonly session: string;
  readonly ok: boolean;
  readonly problems: readonly Problem[];
  /** Events, and distinct bodies that were checked. */
  readonly events: number;
  readonly bodies: number;
  readonly effects: EffectCounts;
}

/** Bodies loaded at once. */
const CHUNK = 100;

const TABLES: readonly BodyTable[] = ['bodies', 'messages', 'snapshots'];

/**
 * Checks all that a session's record promises: the log gapless and readable (L2, L8), every body and the pin present and
 * matching (L4, P4), the effect journal consistent (E3).
 *
 * @throws {SessionNotFoundError}
 */
export async function verifySession(stores: Stores, session: string): Promise<Verification> {
  const problems: Problem[] = [];
  const log = await readable(stores, session, problems);
  if (log.length === 0 && problems.length === 0) throw new SessionNotFoundError(session);
  const pointed = log.flatMap(bodyRefsOf);
  let bodies = 0;
  for (const table of TABLES) {
    const distinct = new Map(pointed.filter((one) => one.table === table).map((one) => [one.ref.digest, one]));
    bodies += distinct.size;
    problems.push(...(await missingBodies(stores, session, table, [...distinct.values()])));
  }
  problems.push(...(await pinProblems(stores, log)));
  const { faults, effects } = checkJournal(log);
  problems.push(...faults.map(({ seq, problem }) => ({ seq, code: 'JOURNAL_INCONSISTENT', message: `${problem}.` })));
  return { session, ok: problems.length === 0, problems, events: log.length, bodies, effects };
}

/** As much of the log as can be read. */
async function readable(stores: Stores, session: string, problems: Problem[]): Promise<Envelope[]> {
  try {
    const log = await stores.read(session);
    fold(log);
    return log;
  } catch (error) {
    if (!(error instanceof LogUnreadableError)) throw error;
    const seq = Number(error.fields['seq']);
    problems.push({ seq, code: error.code, message: error.message });
    return stores.read(session, 0, seq).catch(() => []);
  }
}

async function missingBodies(
  stores: Stores,
  session: string,
  table: BodyTable,
  pointed: readonly PointedBody[],
): Promise<Problem[]> {
  const problems: Problem[] = [];
  const check = async (some: readonly PointedBody[]): Promise<void> => {
    try {
      await stores.load(
        session,
        table,
        some.map(({ ref }) => ref),
      );
    } catch (error) {
      if (!(error instanceof BodyMissingError)) throw error;
      const [one, ...others] = some;
      if (others.length > 0) {
        for (const each of some) await check([each]);
      } else if (one) {
        problems.push({ seq: one.seq, code: error.code, message: error.message });
      }
    }
  };
  for (let i = 0; i < pointed.length; i += CHUNK) await check(pointed.slice(i, i + CHUNK));
  return problems;
}

async function pinProblems(stores: Stores, log: readonly Envelope[]): Promise<Problem[]> {
  const [first] = log;
  if (first?.type !== 'SessionStarted') return [];
  try {
    await checkPin(stores, first.data.pin.digest);
    return [];
  } catch (error) {
    if (!(error instanceof ApomeshError) || error.code !== 'PIN_CORRUPT') throw error;
    return [{ seq: 0, code: error.code, message: error.message }];
  }
}
