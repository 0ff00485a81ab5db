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
  /** The store cannot be reached. */
  | 'unreachable';

/** What a step is, and so what can befall it. */
export type StepKind = 'write' | 'read' | 'run' | 'task' | 'elsewhere';

/** What befalls a process or a workflow between two steps. */
export type Incident = 'kill' | 'freeze' | 'part' | 'leave' | 'reset' | 'continue' | 'cancel';

const CRASHES: readonly Fate[] = ['crash-before', 'crash-after'];

const FATES: Readonly<Record<StepKind, readonly Fate[]>> = {
  write: [...CRASHES, ...CRASHES, 'crash-late', 'lost-none', 'lost-some', 'lost-all', 'lost-late', 'unreachable'],
  read: ['crash-before', 'unreachable'],
  run: ['crash-before'],
  task: CRASHES,
  elsewhere: [],
};

const INCIDENTS: readonly Incident[] = ['kill', 'freeze', 'freeze', 'part', 'part', 'leave', 'reset', 'continue'];

/** Which faults one schedule has: few or many, of all kinds or of some, and none any more once they are used up. */
export class Faults {
  readonly #draws: Draws;
  readonly #odds: { readonly step: number; readonly slow: number; readonly incident: number };
  readonly #kinds: readonly Incident[];
  readonly #allowed: number;
  #left: number;
  #cancels: number;

  constructor(draws: Draws) {
    this.#draws = draws;
    this.#allowed = draws.pick([0, 1, 1, 2, 2, 3, 4, 6, 9]);
    this.#left = this.#allowed;
    this.#odds = {
      step: draws.pick([0.01, 0.03, 0.1]),
      slow: draws.pick([0, 0.02, 0.1]),
      incident: draws.pick([0, 0.005, 0.02]),
    };
    this.#kinds = draws.chance(0.5) ? INCIDENTS : [draws.pick(INCIDENTS)];
    this.#cancels = draws.chance(0.15) ? 1 : 0;
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
    if (this.#draws.chance(this.#odds.slow)) return 'slow';
    if (!this.#draws.chance(this.#odds.step)) return 'go';
    this.#left -= 1;
    return this.#draws.pick(fates);
  }

  incident(): Incident | null {
    if (this.#cancels > 0 && this.#draws.chance(0.01)) {
      this.#cancels -= 1;
      return 'cancel';
    }
    if (this.#left === 0 || !this.#draws.chance(this.#odds.incident)) return null;
    this.#left -= 1;
    return this.#draws.pick(this.#kinds);
  }
}
