import { SessionLiveError, SessionNotFoundError } from '../contract/errors.ts';
import type { Stores } from '../ports/store.ts';
import type { BodyRef, Envelope, EnvelopeOf, TerminalPhase } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';
import type { Json } from '../session/json.ts';
import { SessionFailedError } from './errors.ts';

/** What a session came to. */
export interface Outcome {
  readonly phase: TerminalPhase;
  /** A code, such as the limit that was reached. */
  readonly reason: string | null;
  /** More about the reason, in words. */
  readonly detail: string | null;
  /** The agent's final answer; null where there is none. */
  readonly output: Json;
}

type Ending = Extract<EnvelopeOf<'AgentLifecycle'>['data'], { phase: TerminalPhase }>;

/**
 * What the session whose log this is came to; null while it goes on.
 *
 * @throws {SessionNotFoundError} where the log is empty.
 */
export async function outcomeOf(
  stores: Pick<Stores, 'load'>,
  session: string,
  log: readonly Envelope[],
): Promise<Outcome | null> {
  const last = log.at(-1);
  if (last === undefined) throw new SessionNotFoundError(session);
  if (!fold(log).terminal) return null;
  // The root's terminal event is the log's last (F3).
  const { phase, reason = null, output, detail } = last.data as Ending;
  const load = async (ref: BodyRef | undefined): Promise<Json> => {
    const [json = 'null'] = ref ? await stores.load(session, 'bodies', [ref]) : [];
    return JSON.parse(json);
  };
  const text = await load(detail);
  const words = text === null || typeof text === 'string' ? text : JSON.stringify(text);
  return { phase, reason, detail: words, output: await load(output) };
}

/** @throws {SessionFailedError} where it ended without one. @throws {SessionLiveError} while it goes on. */
export function outputOf(session: string, outcome: Outcome | null): Json {
  if (outcome === null) {
    const wait = `wait for its output (\`apomesh output ${session}\`)`;
    throw new SessionLiveError(session, `${wait}, or follow it with \`apomesh tail ${session}\``);
  }
  if (outcome.phase === 'completed') return outcome.output;
  throw new SessionFailedError(session, outcome.phase, outcome.reason, outcome.detail);
}
