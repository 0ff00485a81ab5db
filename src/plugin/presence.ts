import type { WorkerRegistry } from '../ports/store.ts';

/** A worker's place in the registry: it beats while it runs, and takes no dispatch when it has been silent (W3). */
export class Presence {
  readonly #registry: Pick<WorkerRegistry, 'beat'>;
  readonly #worker: string;
  readonly #taskQueue: string;
  readonly #thresholdMs: number;
  #timer: NodeJS.Timeout | undefined;
  #beaten = Number.NEGATIVE_INFINITY;

  constructor(registry: Pick<WorkerRegistry, 'beat'>, worker: string, taskQueue: string, thresholdMs: number) {
    this.#registry = registry;
    this.#worker = worker;
    this.#taskQueue = taskQueue;
    this.#thresholdMs = thresholdMs;
  }

  async start(): Promise<void> {
    await this.#beat();
    this.#timer = setInterval(() => void this.#beat().catch(() => undefined), this.#thresholdMs / 3).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Settles once the worker counts as alive; one that was silent may have been struck, and beats first. */
  async alive(): Promise<void> {
    if (performance.now() - this.#beaten > this.#thresholdMs) await this.#beat();
  }

  async #beat(): Promise<void> {
    const at = performance.now();
    await this.#registry.beat(this.#worker, this.#taskQueue);
    this.#beaten = at;
  }
}
