import type { DispatchMode } from '../../src/agent/agent.ts';
import { draw, randomOf, sessionSeed, stepSeed } from '../../src/determinism/randomness.ts';
import { STEPS } from './work.ts';

/** Where in a session's life a worker can be hit: before and after what is written is sent and acknowledged, and between. */
export const places = [
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
  'end unsent',
  'end sent',
  'end acknowledged',
] as const;
export type Place = (typeof places)[number];

/** When the worker that holds a session is hit: at most once a session. */
export interface Moment {
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

export const planOf = (name: string, count: number): Plan =>
  new Map(Array.from({ length: count }, (_, i) => [`${name}-${i}`, i % 2 === 0 ? 'loop' : 'call']));

/** A moment for each session, spread over all places: the same ones for the same seed. */
export function momentsOf(seed: number, plan: Plan): Moment[] {
  const random = randomBy(seed);
  const order = shuffled(places, random);
  return [...plan].map(([session, dispatch], i): Moment => {
    const place = order[i % order.length] as Place;
    return {
      session,
      place,
      from: fromOf(place, dispatch, random),
      afterMs: afterMsOf(place, random),
      otherAfterMs: i % 5 === 4 ? Math.floor(random() * 3_000) : null,
      signal: 'SIGKILL',
    };
  });
}

/** Early enough for a later node to bring the place again where an early one went another way. */
function fromOf(place: Place, dispatch: DispatchMode, random: () => number): number {
  if (place.startsWith('end')) return 0;
  const isSlice = place.startsWith('claim') && dispatch === 'loop';
  return Math.floor(random() * (isSlice ? 3 : STEPS - 3));
}

/** At the end there is no second chance, and a moment must not be late. */
function afterMsOf(place: Place, random: () => number): number {
  const isAtOnce = random() < 0.4;
  const ms = Math.floor(random() * 40);
  if (place.startsWith('end')) return place === 'end sent' ? ms % 6 : 0;
  return isAtOnce ? 0 : ms;
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
