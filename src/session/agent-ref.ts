/** What an AgentRef says. */
export interface AgentRefParts {
  readonly session: string;
  readonly role: string;
  /** Number within the session. */
  readonly n: number;
  /** The resume that minted it; 0 for the session's first run. */
  readonly resume: number;
}

/** Longest session id and role, in characters. */
const MAX_CHARACTERS = 200;

const PATTERN = /^([^/]+)\/([^/]+)-(0|[1-9]\d*)(?:\.r([1-9]\d*))?$/u;

/** The AgentRef `<session>/<role>-<n>`, with `.r<k>` after it when minted by resume k. Session and role must be names. */
export function formatAgentRef({
  session,
  role,
  n,
  resume = 0,
}: Omit<AgentRefParts, 'resume'> & { resume?: number }): string {
  const fault = nameFault('a session id', session) ?? nameFault('a role', role);
  if (fault !== null) throw new RangeError(fault);
  for (const count of [n, resume]) {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError(`an AgentRef is numbered 0, 1, 2 ..., not ${count}`);
  }
  return resume === 0 ? `${session}/${role}-${n}` : `${session}/${role}-${n}.r${resume}`;
}

/** The parts of an AgentRef, or null where the text is not one. */
export function parseAgentRef(ref: string): AgentRefParts | null {
  const [, session, role, n, resume = '0'] = PATTERN.exec(ref) ?? [];
  if (session === undefined || role === undefined || n === undefined) return null;
  return { session, role, n: Number(n), resume: Number(resume) };
}

/** What is wrong with a session id, as a sentence for the person who chose it, or null. */
export const sessionIdFault = (id: unknown): string | null => nameFault('a session id', id);

/** What is wrong with a role (an agent's name), as a sentence, or null. */
export const roleFault = (role: unknown): string | null => nameFault('a role', role);

function nameFault(what: string, name: unknown): string | null {
  if (typeof name !== 'string') return `${what} is text, not ${name === null ? 'null' : typeof name}`;
  if (name === '') return `${what} must not be empty`;
  const shown = JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}...` : name);
  if (name.includes('/')) return `${what} must not contain a slash, which separates it from what follows: ${shown}`;
  if (/\p{Cc}/u.test(name)) return `${what} must not contain control characters: ${shown}`;
  if (/\p{Cs}/u.test(name)) return `${what} must not contain half a surrogate pair: ${shown}`;
  const length = [...name].length;
  if (length > MAX_CHARACTERS) return `${what} has at most ${MAX_CHARACTERS} characters, and ${shown} has ${length}`;
  return null;
}
