import { ApomeshError } from '../contract/errors.ts';
import type { TerminalPhase } from '../session/envelopes.ts';

/** The session ended without an output: failed, cancelled or exhausted. Fields: `session`, `phase`, `reason`, `detail`. */
export class SessionFailedError extends ApomeshError {
  readonly code = 'SESSION_FAILED';
  constructor(session: string, phase: TerminalPhase, reason: string | null, detail: string | null) {
    const why = [reason, detail].filter((text) => text !== null).join(': ');
    super(
      `session ${session} is ${phase}${why && ` (${why})`}; \`apomesh show ${session}\` shows how it came to that.`,
      {
        session,
        phase,
        reason,
        detail,
      },
    );
  }
}

/** Temporal no longer runs the session, though its log has not ended. Field `status` is the workflow's. */
export class SessionStoppedError extends ApomeshError {
  readonly code = 'SESSION_STOPPED';
  constructor(session: string, status: string) {
    super(
      `Temporal no longer runs session ${session} (${status}), and its log has not ended; take it up again with ` +
        `\`apomesh resume ${session}\`.`,
      { session, status },
    );
  }
}

/**
 * No worker took an answer. Where `queued` is true it was not withdrawn: Temporal keeps it for the next worker. Where it is false
 * Temporal did not take it, and `instead` is the command that leaves it there. Fields: `session`, `queued`, `instead`.
 */
export class NoWorkerError extends ApomeshError {
  readonly code = 'NO_WORKER';
  private constructor(session: string, queued: boolean, instead: string | null, message: string) {
    super(message, { session, queued, instead });
  }

  static queued(session: string, patienceMs: number): NoWorkerError {
    return new NoWorkerError(
      session,
      true,
      null,
      `no worker took the answer for session ${session} within ${patienceMs / 1_000} s. It stays queued in Temporal and counts when a ` +
        'worker takes it; the first answer taken wins, so another one now may change nothing. Start a worker ' +
        `(\`apomesh worker\`), and answer again only if \`apomesh pauses ${session}\` still shows the pause then.`,
    );
  }

  static failing(session: string, instead: string): NoWorkerError {
    return new NoWorkerError(
      session,
      false,
      instead,
      `Temporal did not take the answer for session ${session}, whose workflow task keeps failing; deploy a worker that can go on ` +
        `with it, or leave the answer for one as a signal: ${instead}`,
    );
  }
}

/** L3: a goal over the limit. */
export class GoalTooLargeError extends ApomeshError {
  readonly code = 'BODY_TOO_LARGE';
  constructor(bytes: number, limit: number) {
    super(
      `the goal is ${bytes} bytes and the limit is ${limit}; put what is long where a tool can read it, and say in the goal where.`,
      { bytes, limit },
    );
  }
}
