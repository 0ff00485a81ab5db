import type { Json } from './json.ts';

/** Every code an error of ours can carry; stable, so that callers may branch on it. */
export type ErrorCode =
  | 'LOG_UNREADABLE'
  | 'FENCED'
  | 'SESSION_LIVE'
  | 'SESSION_TERMINAL'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_FAILED'
  | 'SESSION_STOPPED'
  | 'NO_BOOTSTRAP'
  | 'AGENT_NOT_FOUND'
  | 'TOOL_MISSING'
  | 'TOOL_CHANGED'
  | 'PIN_CORRUPT'
  | 'SKILL_NOT_FOUND'
  | 'SKILL_NOT_IN_BUNDLE'
  | 'VERSION_CONFLICT'
  | 'REPLAY_DIVERGENCE'
  | 'UNSERIALIZABLE_VALUE'
  | 'BODY_TOO_LARGE'
  | 'BODY_MISSING'
  | 'PAUSE_ANSWERED'
  | 'UNKNOWN_PAUSE'
  | 'INVALID_ANSWER'
  | 'INVALID_TOOL_INPUT'
  | 'BUDGET_EXHAUSTED'
  | 'CONFIG_INVALID'
  | 'USAGE'
  | 'TEMPORAL_UNREACHABLE'
  | 'NO_WORKER'
  | 'STORE_UNREACHABLE';

/**
 * Base of every error of ours. `code` is stable, `message` says what to do next, `fields` holds what a caller needs to
 * act (JSON, so that it survives Temporal's failure conversion and `--json`).
 */
export abstract class ApomeshError extends Error {
  abstract readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, Json>>;

  constructor(message: string, fields: Readonly<Record<string, Json>> = {}, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.fields = fields;
  }
}

/** L8: the log of a session cannot be read any further. Fields: `session`, `seq` (of the row at fault), `cause`. */
export class LogUnreadableError extends ApomeshError {
  readonly code = 'LOG_UNREADABLE';

  constructor(session: string | null, seq: number, why: string) {
    super(
      `the log of session ${session ?? '(unknown)'} cannot be read at seq ${seq}: ${why}. ` +
        'Nothing was skipped or changed; restore the row from a backup or an export.',
      { session, seq, cause: why },
    );
  }
}

/** J5: a value that JSON cannot carry exactly. Fields: `path` (like `$.a[0]`), `found`. */
export class UnserializableValueError extends ApomeshError {
  readonly code = 'UNSERIALIZABLE_VALUE';

  constructor(path: string, found: string) {
    super(`the value at ${path} is ${found}, which JSON cannot carry exactly; return a JSON value instead.`, {
      path,
      found,
    });
  }
}
