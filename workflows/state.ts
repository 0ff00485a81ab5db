import { nothingSpent, type Spent } from '../src/agent/budget.ts';
import { initialLoop, type LoopState } from '../src/agent/loop.ts';
import type { DispatchId, DispatchInput } from '../src/contract/activities.ts';
import type { OpenPause, SessionCarry, SessionInput, SessionResult, SessionStatus } from '../src/contract/session.ts';
import type { Phase } from '../src/session/envelopes.ts';

/** An accepted answer, as the workflow needs it. */
export interface Accepted {
  readonly pause: string;
  readonly decision: string;
}

/** Where a session workflow stands. All that matters is on the log too; this is what drives. */
export class SessionState {
  readonly input: SessionInput;
  phase: Phase = 'running';
  epoch = 0;
  slice = 0;
  /** The dispatch before was lost, or ran under a fence: the next one raises it (W3). */
  lost = false;
  lastSeq = 0;
  spent: Spent = nothingSpent;
  /** Loop position (dispatch `call`). */
  loop: LoopState = initialLoop;
  /** What kept the latest dispatch from working, for people. */
  trouble: string | null = null;
  /** What no worker with the pinned tools has taken yet, by the names that `attempt` knows it under. */
  readonly unfit = new Set<string>();
  /** Set once the session is to be cancelled. */
  cancelReason: string | null = null;
  readonly answers: Accepted[] = [];
  #pauses: readonly OpenPause[] = [];
  #acted: Promise<unknown> = Promise.resolve();

  constructor(input: SessionInput) {
    this.input = input;
    if (input.carried) this.goOnFrom(input.carried);
  }

  /** Goes on where another run stood: the one before (C4), or the lost one that the log tells of (R3). */
  goOnFrom({ phase, epoch, slice, lost, unfit = [], lastSeq, spent, loop, answers, pauses }: SessionCarry): void {
    Object.assign(this, { phase, epoch, slice, lost, lastSeq, spent, loop });
    for (const what of unfit) this.unfit.add(what);
    this.answers.push(...answers);
    this.#pauses = pauses;
  }

  get carry(): SessionCarry {
    const { phase, epoch, slice, lost, lastSeq, spent, loop, answers, pauses } = this;
    return { phase, epoch, slice, lost, unfit: [...this.unfit], lastSeq, spent, loop, answers, pauses };
  }

  /** Open pauses, as far as a dispatch has reported them. */
  get pauses(): readonly OpenPause[] {
    return this.#pauses.filter(({ pause }) => !this.isAnswered(pause));
  }

  /** Takes what a dispatch says is open; answers that belong to none of it any more are forgotten. */
  setPauses(pauses: readonly OpenPause[]): void {
    this.#pauses = pauses;
    const open = new Set(pauses.map(({ pause }) => pause));
    const kept = this.answers.filter(({ pause }) => open.has(pause));
    this.answers.splice(0, this.answers.length, ...kept);
  }

  /** Takes one more open pause, which may have its answer already. */
  addPause(pause: OpenPause): void {
    this.#pauses = [...this.#pauses.filter((known) => known.pause !== pause.pause), pause];
  }

  isAnswered(pause: string): boolean {
    return this.answers.some((answer) => answer.pause === pause);
  }

  /** Names the next activity that drives the root, under the fence where one is due. */
  nextDispatch(): DispatchInput {
    const { session, root, resume } = this.input;
    if (this.lost) this.epoch += 1;
    const dispatch = { session, agent: root, resume, epoch: this.epoch, slice: this.slice, lost: this.lost };
    this.slice += 1;
    this.lost = false;
    return dispatch;
  }

  /** Names an act of the coordinator's own on the root. */
  ownAct(): DispatchId {
    const { session, root, resume } = this.input;
    return { session, agent: root, resume, epoch: this.epoch, slice: this.slice };
  }

  /**
   * Runs acts of the coordinator's own one after another. Local activities that overlap are told to the workflow one by
   * one when they run and all at once when they are replayed, and what follows them would come in another order.
   */
  alone<T>(act: () => Promise<T>): Promise<T> {
    const acting = this.#acted.then(act);
    this.#acted = acting.catch(() => undefined);
    return acting;
  }

  reach({ lastSeq, spent }: { readonly lastSeq: number; readonly spent?: Spent }): void {
    this.lastSeq = Math.max(this.lastSeq, lastSeq);
    if (spent && spent.steps >= this.spent.steps) this.spent = spent;
  }

  get status(): SessionStatus {
    const { session, root } = this.input;
    return { session, phases: { [root]: this.phase }, pauses: this.pauses, jobs: [], lastSeq: this.lastSeq };
  }
}

/** How the root came to its end, or why this run does not drive it to one. */
export type Driven =
  | { readonly of: 'ended'; readonly result: SessionResult }
  | { readonly of: 'cancelled' | 'overtaken' };
