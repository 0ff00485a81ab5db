import { ApplicationFailure } from '@temporalio/common';
import { ApomeshError, type ErrorCode, LogUnreadableError, UnserializableValueError } from '../session/error.ts';
import type { Json } from '../session/json.ts';
import { type NotThere, notThere } from './not-there.ts';

export {
  PinCorruptError,
  SkillNotInBundleError,
  ToolChangedError,
  ToolMissingError,
} from './pin-errors.ts';
export { ApomeshError, type ErrorCode, LogUnreadableError, UnserializableValueError };

/** W4: the log holds a higher (resume, epoch) for the agent; the writer's work is dropped. */
export class FencedError extends ApomeshError {
  readonly code = 'FENCED';
  constructor(session: string, agent: string | null) {
    super(`a newer dispatch of ${agent ?? session} has taken over; this one's work is dropped.`, { session, agent });
  }
}

/** R5: the session is being worked on already. `advice`: what to do then; default: what fits where its id was wanted for a new one. */
export class SessionLiveError extends ApomeshError {
  readonly code = 'SESSION_LIVE';
  constructor(
    session: string,
    advice = `follow it with \`apomesh tail ${session}\`, or choose another id for a new one`,
  ) {
    super(`session ${session} goes on; ${advice}.`, { session });
  }

  /** It was to be resumed. */
  static resumed(session: string, takeover = false): SessionLiveError {
    const what = takeover ? 'its workflow is sound, so nothing is to be taken over' : 'nothing is to be taken up';
    return new SessionLiveError(session, `${what}. Follow it with \`apomesh tail ${session}\``);
  }
}

/** R4: the session's workflow is open and its tasks keep failing. */
export class SessionStuckError extends ApomeshError {
  readonly code = 'SESSION_LIVE';
  constructor(session: string, why: string) {
    super(
      `session ${session} is stuck: ${why}. Deploy a worker that can go on with it, or end that workflow and go on without it: ` +
        `\`apomesh resume ${session} --takeover\`.`,
      { session, why },
    );
  }
}

/** R2: the log has no SessionStarted, so there is nothing to resume from. */
export class NoBootstrapError extends ApomeshError {
  readonly code = 'NO_BOOTSTRAP';
  constructor(session: string) {
    super(`the log of session ${session} has no SessionStarted, so nobody can resume it; start another session.`, {
      session,
    });
  }
}

/** F3, R6: the session is over. Field `phase` is the root's last. */
export class SessionTerminalError extends ApomeshError {
  readonly code = 'SESSION_TERMINAL';
  constructor(session: string, phase: string) {
    super(`session ${session} is ${phase} and terminal is final; start another session, with another id.`, {
      session,
      phase,
    });
  }
}

export class SessionNotFoundError extends ApomeshError {
  readonly code = 'SESSION_NOT_FOUND';
  constructor(session: string) {
    super(`there is no session ${session}; \`apomesh sessions\` lists those there are.`, { session });
  }
}

export class AgentNotFoundError extends ApomeshError {
  readonly code = 'AGENT_NOT_FOUND';
  constructor(agent: string, available: readonly string[], more: NotThere = {}) {
    super(notThere(`agent ${agent}`, available, more), { agent, available });
  }
}

/** L4: a body that an event points at is missing or altered. */
export class BodyMissingError extends ApomeshError {
  readonly code = 'BODY_MISSING';
  constructor(session: string, table: string, digest: string, why: string) {
    super(`session ${session}: the body ${digest} in ${table} is ${why}; restore it from a backup.`, {
      session,
      table,
      digest,
      why,
    });
  }
}

/** L7: a body over the limit. */
export class BodyTooLargeError extends ApomeshError {
  readonly code = 'BODY_TOO_LARGE';
  constructor(what: string, bytes: number, limit: number) {
    super(`${what} is ${bytes} bytes and the limit is ${limit}; return less, or raise limits.maxBodyBytes.`, {
      tool: what,
      bytes,
      limit,
    });
  }
}

/** H2: another answer was first. */
export class PauseAnsweredError extends ApomeshError {
  readonly code = 'PAUSE_ANSWERED';
  constructor(session: string, pause: string) {
    super(`pause ${pause} of session ${session} was answered before; the first answer stands.`, { session, pause });
  }
}

/** H2: no such pause. */
export class UnknownPauseError extends ApomeshError {
  readonly code = 'UNKNOWN_PAUSE';
  constructor(session: string, pause: string, open: readonly string[]) {
    super(`session ${session} has no pause ${pause}; open: ${open.join(', ') || 'none'}.`, { session, pause, open });
  }
}

/** H2: the answer does not fit the pause. */
export class InvalidAnswerError extends ApomeshError {
  readonly code = 'INVALID_ANSWER';
  constructor(pause: string, why: string, accepts: readonly string[]) {
    const accepted = accepts.length === 0 ? '' : ` It accepts ${accepts.join(', ')}.`;
    super(`the answer to ${pause} is not valid: ${why}.${accepted}`, { pause, why, accepts });
  }
}

/** Arguments that do not fit a tool's schema. */
export class InvalidToolInputError extends ApomeshError {
  readonly code = 'INVALID_TOOL_INPUT';
  constructor(tool: string, why: string) {
    super(`the arguments of ${tool} are not valid: ${why}`, { tool, why });
  }
}

/** A config that is wrong. `file` is null where it was given in code. */
export class ConfigInvalidError extends ApomeshError {
  readonly code = 'CONFIG_INVALID';
  constructor(field: string, why: string, file: string | null = null) {
    super(`${file ?? 'config'}: ${field}: ${why}`, { field, why, file });
  }
}

/** Words on the command line, or arguments of a call, that do not fit. */
export class UsageError extends ApomeshError {
  readonly code = 'USAGE';
}

export class TemporalUnreachableError extends ApomeshError {
  readonly code = 'TEMPORAL_UNREACHABLE';
  constructor(address: string, options?: ErrorOptions) {
    super(
      `Temporal does not answer at ${address}; start it (\`apomesh dev\`), or give --address or TEMPORAL_ADDRESS.`,
      { address },
      options,
    );
  }
}

export class StoreUnreachableError extends ApomeshError {
  readonly code = 'STORE_UNREACHABLE';
  constructor(address: string, options?: ErrorOptions) {
    super(
      `MongoDB does not answer at ${address}; start it (\`apomesh dev\`), or give --mongo-uri or MONGODB_URI.`,
      { address },
      options,
    );
  }
}

/** L6: what a write left behind is not known; internal, settled by reading back. */
export class StoreUnknownError extends Error {
  override readonly name = 'StoreUnknownError';
}

/** W4: another run of Temporal's own making (a reset, a retry) drives this slice; internal. */
export class ClaimTakenError extends Error {
  override readonly name = 'ClaimTakenError';
  constructor(agent: string, epoch: number, slice: number) {
    super(`another run drives slice ${slice} of ${agent} in epoch ${epoch}`);
  }
}

/**
 * Thrown by a tool's `run`: the request went out and what became of it is not known (the server died or did not answer
 * in time). Of an effect this is doubt (E4), not an error; of a read it is an error like any other.
 */
export class ToolOutcomeUnknownError extends Error {
  override readonly name = 'ToolOutcomeUnknownError';
}

/** W5: why a tool's `signal` is aborted once the grace of a worker that shuts down in order is over. */
export class WorkerShutdownError extends Error {
  override readonly name = 'WorkerShutdownError';
  constructor() {
    super('the worker shuts down');
  }
}

/**
 * Carries an error of ours through Temporal: `type` is the code, `details[0]` the fields. Others pass unchanged. Only a
 * store out of reach is worth another try.
 */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof ApomeshError)) return error;
  return ApplicationFailure.create({
    message: error.message,
    type: error.code,
    nonRetryable: error.code !== 'STORE_UNREACHABLE',
    details: [error.fields],
    cause: error,
  });
}

/** An error of ours as it came back through Temporal. */
export class RemoteError extends ApomeshError {
  readonly code: ErrorCode;
  constructor(code: ErrorCode, message: string, fields: Readonly<Record<string, Json>>) {
    super(message, fields);
    this.code = code;
  }
}
