import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A worker process that is only thought of: what runs in it shares this one's memory, and is cut off when it dies. Frozen,
 * nothing of it moves; cut off from Temporal, it works on and nobody hears of it.
 */
export class Process {
  readonly id: string;
  readonly taskQueue: string;
  state: 'running' | 'frozen' | 'dead' = 'running';
  /** Temporal hears from it, and it from Temporal. */
  isConnected = true;
  /** It was told to shut down, and takes nothing new. */
  isLeaving = false;
  /** Effects that are under way in it. */
  effects = 0;
  readonly #mourners = new Set<() => void>();

  constructor(id: string, taskQueue: string) {
    this.id = id;
    this.taskQueue = taskQueue;
  }

  get takesTasks(): boolean {
    return this.state === 'running' && this.isConnected && !this.isLeaving;
  }

  die(): void {
    this.state = 'dead';
    for (const mourn of this.#mourners) mourn();
    this.#mourners.clear();
  }

  /** Calls back when it dies, until the returned function is called. */
  onDeath(mourn: () => void): () => void {
    this.#mourners.add(mourn);
    return () => this.#mourners.delete(mourn);
  }
}

const current = new AsyncLocalStorage<Process | undefined>();

/** The process that this code runs in; undefined outside of all of them. */
export const here = (): Process | undefined => current.getStore();

/** Runs code, and all that comes of it, in a process. */
export const inProcess = <T>(process: Process | undefined, run: () => T): T => current.run(process, run);
