import type { DispatchMode } from '../../../src/agent/agent.ts';
import type { ScriptStep } from '../../../src/models/scripted.ts';
import { calls } from '../../support/script.ts';
import { randomBy } from '../moments.ts';
import { effectNames, TIMEOUT_MS } from './config.ts';

/** What can happen to the processes. */
export const disturbances = [
  'worker killed',
  'worker stopped',
  'worker told to end',
  'store killed',
  'Temporal killed',
  'Temporal lost',
] as const;
export type Disturbing = (typeof disturbances)[number];

export interface Disturbance {
  readonly atMs: number;
  readonly what: Disturbing;
  /** Which worker, from 0 up to 1. */
  readonly which: number;
  /** How long a worker stands still, or a server is away. */
  readonly forMs: number;
}

export interface PlannedSession {
  readonly id: string;
  readonly agent: DispatchMode;
  readonly steps: readonly ScriptStep[];
  readonly atMs: number;
  /** When a person asks for its end: so long after its start. */
  readonly cancelAfterMs: number | null;
  /** When a person ends its workflow, so that nobody takes it up again without a word. */
  readonly terminateAfterMs: number | null;
}

export interface ChaosPlan {
  readonly sessions: readonly PlannedSession[];
  readonly disturbances: readonly Disturbance[];
}

export interface PlanOptions {
  readonly seed: number;
  readonly sessions: number;
  /** For how long things go wrong. */
  readonly stormMs: number;
}

/** Of fourteen disturbances so many are of each kind. */
const BAG: Readonly<Record<Disturbing, number>> = {
  'worker killed': 5,
  'worker stopped': 2,
  'worker told to end': 2,
  'store killed': 2,
  'Temporal killed': 2,
  'Temporal lost': 1,
};

/** The first bag, so that a short run has every kind. */
const GAP_MS = { least: 2_000, most: 7_000 } as const;
const ONE_OF_EACH: readonly Disturbing[] = disturbances;

/** What happens and when: the same for the same seed. */
export function planOf({ seed, sessions, stormMs }: PlanOptions): ChaosPlan {
  const random = randomBy(seed);
  const longer = Math.min(4, Math.max(1, stormMs / 120_000));
  return {
    sessions: Array.from({ length: sessions }, (_, i) => sessionOf(i, seed, stormMs, longer, random)),
    disturbances: [...disturbancesOf(stormMs, random)],
  };
}

type Random = () => number;

const whole = (random: Random, least: number, most: number): number =>
  least + Math.floor(random() * (most - least + 1));
const oneOf = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;

function sessionOf(i: number, seed: number, stormMs: number, longer: number, random: Random): PlannedSession {
  const steps = Array.from({ length: Math.round(whole(random, 5, 14) * longer) }, () => stepOf(random, i));
  const soon = whole(random, 500, 8_000);
  return {
    id: `chaos-${seed}-${i}`,
    agent: i % 2 === 0 ? 'loop' : 'call',
    steps,
    atMs: Math.floor(random() * stormMs * 0.8),
    cancelAfterMs: i % 12 === 3 ? soon : null,
    terminateAfterMs: i % 25 === 7 ? soon : null,
  };
}

/** Every sixth session looks only, so that a scan may take it up by itself. */
function stepOf(random: Random, i: number): ScriptStep {
  const tools = i % 6 === 5 ? ['look'] : [...effectNames, 'pay', 'look'];
  const count = oneOf(random, [1, 1, 1, 2, 3]);
  return calls(...Array.from({ length: count }, () => [oneOf(random, tools), { item: whole(random, 1, 3) }] as const));
}

function* disturbancesOf(stormMs: number, random: Random): Generator<Disturbance> {
  let bag: Disturbing[] = [...ONE_OF_EACH];
  for (let atMs = 4_000; ; atMs += whole(random, GAP_MS.least, GAP_MS.most)) {
    if (bag.length === 0) bag = disturbances.flatMap((what) => Array<Disturbing>(BAG[what]).fill(what));
    const [what] = bag.splice(Math.floor(random() * bag.length), 1);
    if (what === undefined || atMs > stormMs) return;
    // One that stands still in the middle of an effect for longer than the time-out is not promised anything.
    const forMs = what === 'worker stopped' ? whole(random, 200, TIMEOUT_MS - 1_000) : whole(random, 0, 4_000);
    yield { atMs, what, which: random(), forMs };
  }
}
