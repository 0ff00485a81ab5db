import { setTimeout as sleep } from 'node:timers/promises';
import type { Stores } from '../ports/store.ts';
import { fold } from '../session/fold.ts';
import { adviceOn } from '../session/recovery.ts';
import type { SessionView } from '../session/view.ts';
import type { Temporal } from './temporal.ts';

/** Why a session that is not over does not go on by itself. */
export interface Standstill {
  /** What a scan listed it as (R2); null where none has listed it, and Temporal does not run it. */
  readonly class: string | null;
  /** A sentence for people. */
  readonly why: string;
  /** What to do about it, for people. */
  readonly advice: string;
  /** Where its log ended then. */
  readonly lastSeq: number;
}

/** How long Temporal may take, in milliseconds: a session can be read without it. */
const PATIENCE_MS = 2_000;

/** Whether a session stands still: it is listed, or Temporal says that it does not run it. Null where it goes on or is over. */
export async function standstillOf(
  temporal: Temporal,
  stores: Pick<Stores, 'read' | 'listed'>,
  view: SessionView,
): Promise<Standstill | null> {
  const { session, terminal, lastSeq } = view;
  if (terminal) return null;
  const listed = await stores.listed(session);
  if (listed !== null)
    return { class: listed.class, why: listed.why, advice: adviceOn(listed.class, session), lastSeq };
  const status = await stoppedStatus(temporal, stores, view);
  const why = `Temporal at ${temporal.address} does not run it (${status})`;
  return status === null ? null : { class: null, why, advice: adviceOn('closed', session), lastSeq };
}

/** The status of a session's workflow where that is not open, though the log goes on; null where Temporal does not say so in time. */
export async function stoppedStatus(
  temporal: Temporal,
  stores: Pick<Stores, 'read'>,
  { session, bootstrap, lastSeq }: SessionView,
): Promise<string | null> {
  if (bootstrap !== null && bootstrap.namespace !== temporal.namespace) return null;
  const described = temporal.describe(session).catch(() => undefined);
  const workflow = await Promise.race([described, sleep(PATIENCE_MS, undefined, { ref: false })]);
  // One with its first event only may be about to get its workflow.
  if (workflow === undefined || workflow?.isOpen || (workflow === null && lastSeq === 0)) return null;
  // What it logged before it was over.
  return fold(await stores.read(session)).terminal ? null : (workflow?.status ?? UNKNOWN_STATUS);
}

/** In place of the status of a workflow that Temporal has not, or no longer. */
export const UNKNOWN_STATUS = 'unknown to it';
