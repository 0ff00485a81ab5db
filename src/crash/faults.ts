import type { Draws } from './draws.ts';

/** What becomes of one step. */
export type Fate =
  | 'go'
  /** It takes its time, while everything else goes on. */
  | 'slow'
  /** The process dies before the step, after it, or before it with the request on its way. */
  | 'crash-before'
  | 'crash-after'
  | 'crash-late'
  /** The answer is lost, with nothing, some or all of it done, or done later. */
  | 'lost-none'
  | 'lost-some'
  | 'lost-all'
  | 'lost-late'
  /** It is done at once, and the answer takes its time. */
  | 'answer-late'
  /** The store cannot be reached. */
  | 'unreachable';

/** What a step is, and so what can befall it. */
export type StepKind = 'write' | 'read' | 'run' | 'task' | 'request' | 'elsewhere';

/** What befalls a process or a workflow between two steps. */
export type Incident = 'kill' | 'freeze' | 'part' | 'leave' | 'reset' | 'continue' | Rare;

/** Cancelled; or all that Temporal knows is lost; or a person ends the workflow in Temporal; or its tasks fail from now on. */
export type Rare = 'cancel' | 'lose' | 'close' | 'stick';

const CRASHES: readonly Fate[] = ['crash-before', 'crash-after'];

const FATES: Readonly<Record<StepKind, readonly Fate[]>> = {
  write: [
    ...CRASHES,
    ...CRASHES,
    'crash-late',
    'lost-none',
    'lost-some',
    'lost-all',
    'lost-late',
    'answer-late',
    'unreachable',
  ],
  read: ['crash-before', 'unreachable'],
  run: ['crash-before'],
  task: CRASHES,
  request: [...CRASHES, 'lost-none', 'lost-all'],
  elsewhere: [],
};

const INCIDENTS: readonly Incident[] = [
  'kill',
  'freeze',
  'freeze',
  'part',
  'part',
  'leave',
  'reset',
  'reset',
  'continue',
];

const LOSSES: readonly Rare[] = ['lose', 'lose', 'lose', 'close', 'stick'];
const RARE_ODDS = 0.015;

const FOCI: readonly StepKind[] = ['write', 'read', 'run', 'run', 'task', 'request'];
const FOCUSED_ODDS = 0.25;

/** Which faults one schedule has: few or many, of all kinds or of some, and none any more once they are used up. */
export class Faults {
  readonly #draws: Draws;
  readonly #odds: { readonly step: number; readonly slow: number; readonly incident: number };
  /** The one kind of step that anything befalls, often; null for any. */
  readonly #focus: StepKind | null;
  readonly #kinds: readonly Incident[];
  readonly #allowed: number;
  #left: number;
  readonly #rare: Rare[];

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#allowed = draws.pick([0, 1, 1, 2, 2, 3, 4, 6, 9]);
    this.#left = this.#allowed;
    this.#focus = draws.chance(0.3) ? draws.pick(FOCI) : null;
    this.#odds = {
      step: this.#focus === null ? draws.pick([0.01, 0.03, 0.1]) : FOCUSED_ODDS,
      slow: draws.pick([0, 0.02, 0.1]),
      incident: draws.pick([0, 0.005, 0.02]),
    };
    this.#kinds = draws.chance(0.5) ? INCIDENTS : [draws.pick(INCIDENTS)];
    this.#rare = [
      ...(draws.chance(0.15) ? (['cancel'] as const) : []),
      ...(draws.chance(0.2) ? [draws.pick(LOSSES)] : []),
      ...(draws.chance(0.04) ? [draws.pick(LOSSES)] : []),
    ];
  }

  /** How many there were. */
  get befallen(): number {
    return this.#allowed - this.#left;
  }

  /** Whether nothing can go wrong any more. */
  get areOver(): boolean {
    return this.#left === 0;
  }

  fateOf(kind: StepKind): Fate {
    const fates = FATES[kind];
    if (this.#left === 0 || fates.length === 0) return 'go';
    // Between an intent and its effect nothing is slow: that is for freezes, which know how long they may last.
    if (kind !== 'run' && this.#draws.chance(this.#odds.slow)) return 'slow';
    if ((this.#focus ?? kind) !== kind || !this.#draws.chance(this.#odds.step)) return 'go';
    this.#left -= 1;
    return this.#draws.pick(fates);
  }

  incident(): Incident | null {
    if (this.#rare.length > 0 && this.#draws.chance(RARE_ODDS)) return this.#rare.pop() ?? null;
    if (this.#left === 0 || !this.#draws.chance(this.#odds.incident)) return null;
    this.#left -= 1;
    return this.#draws.pick(this.#kinds);
  }
}
