import type { Envelope, Phase } from './envelopes.ts';
import type { SessionView } from './view.ts';

/** What is kept of a session that is over, to list it by (F6). */
export interface Completed {
  readonly session: string;
  readonly phase: Phase;
  readonly reason: string | null;
  readonly lastSeq: number;
  /** `at` of the log's last event. */
  readonly at: string;
}

/**
 * The completed record of a session: it says nothing that the log does not. Null while the session goes on.
 *
 * @param view the fold of the whole log.
 * @param last the log's last event.
 */
export function completedOf(view: SessionView, last: Envelope | undefined): Completed | null {
  const root = view.root === null ? undefined : view.agents[view.root];
  if (!view.terminal || root === undefined || last === undefined) return null;
  return { session: view.session, phase: root.phase, reason: view.reason, lastSeq: view.lastSeq, at: last.at };
}
