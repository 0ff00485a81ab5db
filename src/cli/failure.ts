import { ApomeshError, type ErrorCode } from '../session/error.ts';
import { flushed, note } from './terminal.ts';

/** Done; it failed; wrong usage; not found; refused by a rule; unreadable or corrupt. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 130 | 143;

const EXIT: Partial<Record<ErrorCode, ExitCode>> = {
  USAGE: 2,
  CONFIG_INVALID: 2,
  INVALID_ANSWER: 2,
  INVALID_TOOL_INPUT: 2,
  UNSERIALIZABLE_VALUE: 2,
  BODY_TOO_LARGE: 2,
  SESSION_NOT_FOUND: 3,
  AGENT_NOT_FOUND: 3,
  SKILL_NOT_FOUND: 3,
  UNKNOWN_PAUSE: 3,
  SESSION_LIVE: 4,
  SESSION_TERMINAL: 4,
  PAUSE_ANSWERED: 4,
  VERSION_CONFLICT: 4,
  FENCED: 4,
  NO_BOOTSTRAP: 4,
  LOG_UNREADABLE: 5,
  PIN_CORRUPT: 5,
  SKILL_NOT_IN_BUNDLE: 5,
  BODY_MISSING: 5,
  REPLAY_DIVERGENCE: 5,
};

/** Says on standard error what went wrong, and gives the exit code that goes with it. */
export async function fail(error: unknown, json: boolean): Promise<ExitCode> {
  const known = error instanceof ApomeshError ? error : null;
  const code = known?.code ?? 'INTERNAL';
  const message = messageOf(error, known === null);
  const fields = { code, message, ...known?.fields };
  if (json) note(JSON.stringify({ error: { ...fields, code, message } }));
  else note(`error: ${code}: ${message}`);
  if (known === null && process.env['APOMESH_DEBUG'] && error instanceof Error) note(error.stack ?? '');
  await flushed();
  return known === null ? 1 : exitOf(known);
}

function exitOf({ code, fields }: ApomeshError): ExitCode {
  // Of an agent that is being sealed nothing is corrupt yet: it names a skill that there is none of.
  if (code === 'SKILL_NOT_IN_BUNDLE' && fields['digest'] === null) return 2;
  return EXIT[code] ?? 1;
}

/** The text of an error, with its cause's where it is not ours and so may not say what matters. */
function messageOf(error: unknown, withCause: boolean): string {
  if (!(error instanceof Error)) return String(error);
  const cause = withCause && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return (error.message || error.name) + cause;
}
