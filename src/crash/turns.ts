import { type Clock, pauseFor, settle } from './clock.ts';
import type { Draws } from './draws.ts';
import type { Fate, Faults, StepKind } from './faults.ts';
import { inProcess, type Process } from './process.ts';

/** Something that waits for its turn. */
export interface Step {
  readonly kind: StepKind;
  readonly label: string;
  /** Whose it is: it does not come while that one is frozen, and never once it is dead. */
  readonly process?: Process | undefined;
  /** Whether it needs the process to be heard by Temporal. */
  readonly needsTemporal?: boolean;
  /** Where given, it waits until this is true. */
  readonly ready?: () => boolean;
  /** Time before which it does not come. */
  notBefore?: number;
  /** Does it, as it is fated; ends when all is done that others must not come in between of. */
  perform(fate: Fate): unknown;
}

const LONGEST_SLOWNESS_MS = 4_000;
/** Time that a step takes, at most, so that time goes on even where nothing waits for it. */
const LONGEST_STEP_MS = 3;

/** Real time that work is waited for. */
const LONGEST_WORK_MS = 100;

/**
 * Lets one step happen at a time, drawn from all that could: whatever order processes and machines could bring about comes
 * up, and with the same seed the same one. Time moves on only when nothing else can.
 */
export class Turns {
  readonly clock: Clock;
  /** What happened, a line each. */
  readonly trace: string[] = [];
  readonly #draws: Draws;
  readonly #faults: Faults;
  readonly #steps: Step[] = [];
  readonly #ends: (() => void)[] = [];
  /** Real work that time waits for. */
  #working = 0;

  constructor(clock: Clock, draws: Draws, faults: Faults) {
    this.clock = clock;
    this.#draws = draws;
    this.#faults = faults;
  }

  add(step: Step): void {
    this.#steps.push(step);
  }

  /** Runs work that takes real time, in which time here stands still; not for long, as it may wait for that very time. */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.#working += 1;
    try {
      return await work();
    } finally {
      this.#working -= 1;
    }
  }

  /** Waits for a turn in which nothing more happens than that the process goes on, or dies. */
  pass(process: Process, kind: StepKind, label: string): Promise<void> {
    return new Promise((resolve) => {
      const perform = (fate: Fate) => (fate === 'go' ? resolve() : process.die());
      this.add({ kind, label, process, perform });
    });
  }

  /** Calls back after a time, whatever becomes of the process that asks for it. */
  later(ms: number, then: () => void): number {
    return inProcess(undefined, () => this.clock.set(then, ms));
  }

  /** Calls back when the schedule is over. */
  atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  /** Nothing happens any more. What waits is let go: Node keeps a signal that is listened to until it is aborted. */
  async end(): Promise<void> {
    for (const end of this.#ends) end();
    await settle();
  }

  say(what: string): void {
    this.trace.push(`${this.clock.now} ${what}`);
  }

  /** Whether anything is left that could still happen before a time. */
  isIdle(before: number): boolean {
    return this.#eligible().length === 0 && (this.#nextAt() ?? Number.POSITIVE_INFINITY) > before;
  }

  /** One step, or a move of the clock. False where nothing is left to happen. */
  async next(): Promise<boolean> {
    const steps = await this.#eligibleOnceDone();
    if (steps.length > 0) {
      this.clock.moveTo(this.clock.now + this.#draws.between(0, LONGEST_STEP_MS));
      await this.#do(this.#draws.pick(steps));
    } else {
      const at = this.#nextAt();
      if (at === null) return false;
      this.clock.moveTo(at);
    }
    await settle();
    return true;
  }

  async #do(step: Step): Promise<void> {
    // A timer that has just fired may have ended its process, or what it waits for.
    if (!this.#isPossible(step)) return;
    const fate = this.#faults.fateOf(step.kind);
    const { process, label } = step;
    this.trace.push(`${this.clock.now} ${process?.id ?? '-'} ${label}${fate === 'go' ? '' : ` ${fate}`}`);
    if (fate === 'slow') {
      step.notBefore = this.clock.now + this.#draws.between(1, LONGEST_SLOWNESS_MS);
      return;
    }
    this.#steps.splice(this.#steps.indexOf(step), 1);
    await inProcess(process, () => step.perform(fate));
  }

  async #eligibleOnceDone(): Promise<Step[]> {
    let steps = this.#eligible();
    for (let waited = 0; steps.length === 0 && this.#working > 0 && waited < LONGEST_WORK_MS; waited += 1) {
      await pauseFor(1);
      steps = this.#eligible();
    }
    return steps;
  }

  #eligible(): Step[] {
    for (let i = this.#steps.length - 1; i >= 0; i -= 1)
      if (this.#steps[i]?.process?.state === 'dead') this.#steps.splice(i, 1);
    return this.#steps.filter((step) => this.#isPossible(step) && (step.notBefore ?? 0) <= this.clock.now);
  }

  #isPossible({ process, needsTemporal, ready }: Step): boolean {
    if (process && process.state !== 'running') return false;
    if (needsTemporal && process && !process.isConnected) return false;
    return ready === undefined || ready();
  }

  #nextAt(): number | null {
    const times = this.#steps.filter((step) => this.#isPossible(step)).map((step) => step.notBefore ?? 0);
    const timer = this.clock.nextAt;
    if (timer !== null) times.push(timer);
    return times.length === 0 ? null : Math.max(this.clock.now, Math.min(...times));
  }
}
