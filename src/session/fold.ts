import { Draft } from './draft.ts';
import type { Envelope } from './envelopes.ts';
import { transition } from './transition.ts';
import { type Bootstrap, empty, type SessionView } from './view.ts';

/**
 * The state of a session from its log, from seq 0 on: pure, one pass, O(1) an envelope (F1). The same as
 * `reduce(evolve, empty)`, only faster.
 *
 * @throws {LogUnreadableError} naming session and seq, at the first envelope that does not fit those before it (L8).
 */
export function fold(envelopes: Iterable<Envelope>): SessionView {
  const draft = new Draft(empty);
  for (const envelope of envelopes) transition(draft, envelope);
  return draft.finish();
}

/**
 * The view after one more envelope (F1). Never changes the view it is given; costs a shallow copy of it (O(agents)).
 *
 * @param view that `fold` or `evolve` gave, or `empty`.
 * @throws {LogUnreadableError} as {@link fold}.
 */
export function evolve(view: SessionView, envelope: Envelope): SessionView {
  const draft = new Draft(view);
  transition(draft, envelope);
  return draft.finish();
}

/**
 * The bootstrap view (F4), which is on the first envelope; null where that is no SessionStarted, or there is none.
 *
 * @throws {LogUnreadableError} where the log does not begin at seq 0.
 */
export function bootstrap(envelopes: Iterable<Envelope>): Bootstrap | null {
  for (const envelope of envelopes) return evolve(empty, envelope).bootstrap;
  return null;
}
