import { setTimeout as sleep } from 'node:timers/promises';
import {
  SessionLiveError,
  SessionTerminalError,
  StoreUnknownError,
  StoreUnreachableError,
} from '../contract/errors.ts';
import type { Row, Stores } from '../ports/store.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import type { Envelope, EnvelopeOf } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';

export type FirstEvent = EnvelopeOf<'SessionStarted'>;

type Log = Pick<Stores, 'read' | 'write' | 'address'>;

/** How long an unknown result is read back before giving up, in milliseconds. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 200;

/**
 * Puts a session's first event on its log, with what it needs before it, in one write (L4). A first event with the very
 * same data and nothing after it is an orphan of a start that broke off: it is taken over.
 *
 * @param before rows to be durable before the event.
 * @returns the event as it is logged.
 * @throws {SessionLiveError} or {SessionTerminalError} where the id is taken; that session is left as it is.
 * @throws {StoreUnreachableError} where it could not be found out within 10 seconds what was written.
 */
export async function logFirstEvent(stores: Log, before: readonly Row[], event: FirstEvent): Promise<FirstEvent> {
  const rows: Row[] = [...before, { into: 'events', envelope: event }];
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      if ((await stores.write(rows)) === rows.length) return event;
      return takeOver(event, await stores.read(event.session));
    } catch (error) {
      if (!(error instanceof StoreUnknownError)) throw error;
      if (Date.now() > deadline) throw new StoreUnreachableError(stores.address, { cause: error });
      await sleep(PAUSE_MS);
    }
  }
}

/** Says why a session may not be started, from what its log holds; nothing where it holds no event. */
export async function assertFree(stores: Log, event: FirstEvent): Promise<void> {
  const log = await stores.read(event.session);
  if (log.length > 0) takeOver(event, log);
}

function takeOver(event: FirstEvent, log: readonly Envelope[]): FirstEvent {
  const [first] = log;
  if (log.length === 1 && first?.type === 'SessionStarted' && sameStart(first, event)) return first;
  throw taken(event.session, log);
}

/** The error that says what became of the session that has the id. */
export function taken(session: string, log: readonly Envelope[]): SessionLiveError | SessionTerminalError {
  const view = fold(log);
  const root = view.root === null ? undefined : view.agents[view.root];
  return view.terminal && root ? new SessionTerminalError(session, root.phase) : new SessionLiveError(session);
}

const sameStart = (one: FirstEvent, other: FirstEvent): boolean =>
  one.id === other.id && one.agent === other.agent && canonicalJson(one.data) === canonicalJson(other.data);
