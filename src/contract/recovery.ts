import type { RecoveryClass } from '../session/recovery.ts';
import type { SessionCarry } from './session.ts';

/** The workflow that runs a scan, and its id: one runs at a time (R1). */
export const RECOVERY_WORKFLOW = 'apomeshRecovery';
export const RECOVERY_ID = 'apomesh-recovery';
/** What Temporal's schedule starts; it asks for a scan like everybody else. */
export const RECOVERY_TICK_WORKFLOW = 'apomeshRecoveryTick';

/** Memo of both: whoever asks runs versioned workers. */
export const VERSIONED = 'ApomeshVersioned';

/** With `reuse`, what replaced agents did is served; with `rerun` it is done again (R4). */
export const effectModes = ['reuse', 'rerun'] as const;
export type EffectMode = (typeof effectModes)[number];

/** Who takes a session up again. */
export type ResumeCause = 'boot-scan' | 'operator';

/** How a workflow is to take up a session that was lost. */
export interface Resuming {
  readonly cause: ResumeCause;
  readonly effects: EffectMode;
}

/** One session as a scan found it. */
export interface Finding {
  readonly session: string;
  readonly class: RecoveryClass;
  /** A sentence for people. */
  readonly why: string;
}

/** How many sessions of each class. */
export type FindingCounts = Readonly<Partial<Record<RecoveryClass, number>>>;

/** The counts of two parts of a scan together. */
export function addCounts(some: FindingCounts, more: FindingCounts): FindingCounts {
  const sum: Partial<Record<RecoveryClass, number>> = { ...some };
  for (const [found, count] of Object.entries(more) as [RecoveryClass, number][])
    sum[found] = (sum[found] ?? 0) + count;
  return sum;
}

export interface ScanInput {
  /** The session to go on after; null at the start. */
  readonly after: string | null;
}

/** What one page of a scan found; those that have a completed record are not counted. */
export interface ScanPage {
  /** The session to go on after; null at the end. */
  readonly next: string | null;
  readonly counts: FindingCounts;
}

/** Input of the recovery workflow. */
export interface RecoveryInput {
  /** Carried over by continue-as-new. */
  readonly carried?: ScanInput & { readonly counts: FindingCounts };
}

export interface ResumeInput extends Resuming {
  readonly session: string;
  readonly resume: number;
  /** The workflow that takes the session up, however often it is tried. */
  readonly claimant: string;
}

/** What becomes of taking a session up: where to go on, or that somebody else has it or it is over. */
export type ResumeResult =
  | { readonly kind: 'resumed'; readonly carried: SessionCarry }
  | { readonly kind: 'overtaken' };
