import type { DispatchMode } from '../../src/agent/agent.ts';
import { draw, randomOf, sessionSeed, stepSeed } from '../../src/determinism/randomness.ts';
import { STEPS } from './work.ts';

/** Where in a session's life a worker can be hit: before and after what is written is sent and acknowledged, and between. */
const midway = [
  'claim unsent',
  'claim acknowledged',
  'generation',
  'intent sent',
  'intent acknowledged',
  'effect begun',
  'effect done',
  'read',
  'outcome unsent',
  'outcome sent',
  'snapshot acknowledged',
] as const;
const last = ['end unsent', 'end sent', 'end acknowledged'] as const;
export type Place = (typeof midway)[number] | (typeof last)[number];
export const places: readonly Place[] = [...midway, ...last];

/** When the worker that holds a session is hit. */
export interface Moment {
  /** Name of a file that says it has happened. */
  readonly id: string;
  readonly session: string;
  readonly place: Place;
  /** Not before this node; of a claim, not before this slice. */
  readonly from: number;
  /** Milliseconds after the place was reached; 0 is at once, before anything else runs. */
  readonly afterMs: number;
  /** Milliseconds until the other worker is killed too; null: it is spared. */
  readonly otherAfterMs: number | null;
  readonly signal: 'SIGKILL' | 'SIGSTOP';
}

/** Sessions, by their names, with the way each is dispatched. */
export type Plan = ReadonlyMap<string, DispatchMode>;

/** Two moments for each session, spread over all places: the same ones for the same seed. */
export function momentsOf(seed: number, plan: Plan): Moment[] {
  const random = randomBy(seed);
  const sessions = [...plan.keys()];
  const firsts = dealt(shuffled(midway, random), sessions.length);
  const seconds = shuffled(dealt([...last, ...shuffled(midway, random)], sessions.length), random);
  const at = (session: string, place: Place, n: number): Moment => ({
    id: `${session}.${n}`,
    session,
    place,
    from: fromOf(place, plan.get(session) ?? 'loop', random),
    afterMs: random() < 0.4 ? 0 : Math.floor(random() * 40),
    otherAfterMs: random() < 0.15 ? Math.floor(random() * 3_000) : null,
    signal: 'SIGKILL',
  });
  return sessions.flatMap((session, i) => [at(session, firsts[i]!, 1), at(session, seconds[i]!, 2)]);
}

/** Early enough for a later node to bring the place again where an early one went another way. */
function fromOf(place: Place, dispatch: DispatchMode, random: () => number): number {
  if (place.startsWith('end')) return 0;
  const isSlice = place.startsWith('claim') && dispatch === 'loop';
  return Math.floor(random() * (isSlice ? 3 : STEPS - 3));
}

export function randomBy(seed: number): () => number {
  const step = stepSeed(sessionSeed(`crash-${seed}`), 0);
  let i = 0;
  return () => {
    i += 1;
    return randomOf(draw(step, i));
  };
}

const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => ({ item, by: random() }))
    .toSorted((a, b) => a.by - b.by)
    .map(({ item }) => item);

/** So many items, from the start again when they run out. */
const dealt = <T>(items: readonly T[], count: number): T[] =>
  Array.from({ length: count }, (_, i) => items[i % items.length] as T);
