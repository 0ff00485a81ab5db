import { WorkflowNotFoundError } from '@temporalio/common';
import { SessionNotFoundError, UsageError } from '../contract/errors.ts';
import { CANCEL, type CancelRequest } from '../contract/session.ts';
import type { Stores } from '../ports/store.ts';
import type { Envelope } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';
import type { Json } from '../session/json.ts';
import type { SessionView } from '../session/view.ts';
import { type AnswerOptions, answerPause, whyNotThere } from './answer.ts';
import { type EffectRecord, effectRecords } from './effects.ts';
import { SessionStoppedError } from './errors.ts';
import { type Outcome, outcomeOf, outputOf } from './output.ts';
import { openPauses, type Pause } from './pauses.ts';
import { type Standstill, standstillOf, stoppedStatus, UNKNOWN_STATUS } from './standstill.ts';
import { type TailOptions, tailLog } from './tail.ts';
import type { Temporal } from './temporal.ts';
import { type Verification, verifySession } from './verify.ts';
import { witnessOf } from './witness.ts';

/** One session, by its id. Reading needs the store only; acting needs Temporal too. */
export class SessionHandle {
  readonly id: string;
  readonly #temporal: Temporal;
  readonly #stores: Stores;

  constructor(id: string, temporal: Temporal, stores: Stores) {
    this.id = id;
    this.#temporal = temporal;
    this.#stores = stores;
  }

  /** The envelopes of the log as they are logged, to the session's end. See {@link TailOptions}. */
  tail(options: TailOptions = {}): AsyncGenerator<Envelope, void, undefined> {
    const { from = 0 } = options;
    if (!Number.isSafeInteger(from) || from < 0)
      throw new UsageError(`from is a seq (0, 1, 2 …), not ${from}.`, { field: 'from' });
    return tailLog(this.#stores, this.id, options);
  }

  /** All envelopes that are logged, from a seq on. @throws {SessionNotFoundError} @throws {LogUnreadableError} */
  async events(from = 0): Promise<Envelope[]> {
    const log = await this.#stores.read(this.id, from);
    if (log.length === 0 && (from === 0 || (await this.#stores.read(this.id, 0, 1)).length === 0)) {
      throw new SessionNotFoundError(this.id);
    }
    return log;
  }

  /** The session's state: the fold of its log (L1). */
  async view(): Promise<SessionView> {
    return fold(await this.events());
  }

  /** The open pauses, each with the arguments of its call and the commands that answer it. */
  async pauses(): Promise<Pause[]> {
    const log = await this.events();
    return openPauses(this.#stores, fold(log), log);
  }

  /** What the session did to the world: each effect that was begun, with its arguments, its result, and what came late (E3, E4). */
  async effects(): Promise<EffectRecord[]> {
    return effectRecords(this.#stores, this.id, await this.events());
  }

  /**
   * Answers a pause, and returns once the answer is on the log (H2).
   *
   * @throws {RemoteError} with code `PAUSE_ANSWERED`, `UNKNOWN_PAUSE` or `INVALID_ANSWER`.
   * @throws {SessionTerminalError} {@link SessionNotFoundError} {@link NoWorkerError}
   */
  async answer(pause: string, answer: AnswerOptions): Promise<void> {
    await answerPause(this.#temporal, this.#stores, this.id, pause, answer);
  }

  /** Asks the session to end: tools in progress are told, and no further generation is paid for. */
  async cancel(reason?: string): Promise<void> {
    const request: CancelRequest = reason === undefined ? {} : { reason };
    const handle = this.#temporal.client.workflow.getHandle(this.id);
    try {
      await this.#temporal.call(() => handle.signal(CANCEL, request));
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) throw await whyNotThere(this.#temporal, this.#stores, this.id);
      throw error;
    }
  }

  /** What the session came to; null while it goes on. */
  async outcome(): Promise<Outcome | null> {
    return outcomeOf(this.#stores, this.id, await this.events());
  }

  /**
   * The root's final answer, text or a JSON value. Waits for it, unless `wait` is false.
   *
   * @throws {SessionFailedError} where the session ends without one.
   * @throws {SessionLiveError} where it goes on and `wait` is false.
   * @throws {SessionStoppedError} where Temporal no longer runs it, as far as it answers.
   */
  async output({ wait = true, signal }: { wait?: boolean; signal?: AbortSignal } = {}): Promise<Json> {
    const outcome = await this.outcome();
    if (outcome !== null) return outputOf(this.id, outcome);
    if (!wait) return this.#outputNow();
    const onIdle = () => this.assertRunning();
    for await (const _ of this.tail({ onIdle, ...(signal && { signal }) }));
    signal?.throwIfAborted();
    return outputOf(this.id, await this.outcome());
  }

  /** @throws {SessionStoppedError} where Temporal does not run the session. */
  async assertRunning(): Promise<void> {
    const workflow = await this.#temporal.describe(this.id);
    if (!workflow?.isOpen) throw new SessionStoppedError(this.id, workflow?.status ?? UNKNOWN_STATUS);
  }

  /** Why the session does not go on by itself: it waits for an operator, or Temporal does not run it. Null where it goes on or is over. */
  async standstill(): Promise<Standstill | null> {
    return standstillOf(this.#temporal, this.#stores, await this.view());
  }

  /** The output of a session that had none a moment ago. */
  async #outputNow(): Promise<Json> {
    const status = await stoppedStatus(this.#temporal, this.#stores, await this.view());
    if (status !== null) throw new SessionStoppedError(this.id, status);
    return outputOf(this.id, await this.outcome());
  }

  /** Checks all that the session's record promises. Temporal is asked how far the log must reach; where it is away, nobody is. */
  async verify(): Promise<Verification> {
    return verifySession(this.#stores, this.id, await witnessOf(this.#temporal, this.id));
  }
}
