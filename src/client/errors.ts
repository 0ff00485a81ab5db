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

/** A request that a worker must answer, and none did. Field `task`. */
export class NoWorkerError extends ApomeshError {
  readonly code = 'NO_WORKER';
  constructor(session: string, what: string, when: string, instead: string) {
    super(`no worker took ${what} for session ${session} ${when}; start one (\`apomesh worker\`), or ${instead}`, {
      session,
      instead,
    });
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
