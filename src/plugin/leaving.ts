import type { Worker } from '@temporalio/worker';
import type { Leaving } from '../../activities/index.ts';
import { WorkerShutdownError } from '../contract/errors.ts';
import { timeLimit } from '../journal/time-limit.ts';

/** How often a worker is looked at, in milliseconds. */
const LOOK_MS = 50;

/**
 * Watches a worker for its shutdown (W5). Temporal itself tells activities only after `shutdownGraceTime`, and from then on
 * tells them of no cancellation any more.
 */
export class WorkerLeaving implements Leaving {
  readonly #released = new AbortController();
  readonly #drained = new AbortController();
  readonly #graceMs: number;
  readonly #look: NodeJS.Timeout;
  #clear: () => void = () => undefined;

  constructor(worker: Pick<Worker, 'getState'>, graceMs: number) {
    this.#graceMs = graceMs;
    this.#look = setInterval(() => {
      const state = worker.getState();
      if (state !== 'INITIALIZED' && state !== 'RUNNING') this.begin();
    }, LOOK_MS).unref();
  }

  get released(): AbortSignal {
    return this.#released.signal;
  }

  get drained(): AbortSignal {
    return this.#drained.signal;
  }

  begin(): void {
    if (this.released.aborted) return;
    clearInterval(this.#look);
    const grace = timeLimit(this.#graceMs);
    grace.signal.addEventListener('abort', () => this.#drained.abort(new WorkerShutdownError()), { once: true });
    this.#clear = grace.clear;
    this.#released.abort();
  }

  /** Once the worker has ended. */
  stop(): void {
    clearInterval(this.#look);
    this.#clear();
  }
}
