import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { here, type Process } from './process.ts';

type Callback = (...args: unknown[]) => void;

interface Timer {
  readonly owner: Process | undefined;
  readonly fire: () => void;
  readonly everyMs: number | null;
  at: number;
}

interface Options {
  readonly signal?: AbortSignal | undefined;
}

/** The real turn of the event loop, which nothing here replaces. */
const turn = promises.setImmediate;

const pause = promises.setTimeout;

/** Real time, for work outside of this program. */
export const pauseFor = (ms: number): Promise<void> => pause(ms);

/** Runs everything that waits for nothing but its turn: no timer, no gate. */
export const settle = (): Promise<void> => turn();

/**
 * Time that stands still until it is told to move. While it is installed, `Date`, `performance.now` and the timers of this
 * process go by it. A timer belongs to the process it was set in: it does not fire while that one is frozen, and never
 * once it is dead.
 */
export class Clock {
  #now: number;
  #held: number | null = null;
  #order = 0;
  readonly #start: number;
  readonly #timers = new Map<number, Timer>();

  constructor(start: number) {
    this.#now = start;
    this.#start = start;
  }

  get now(): number {
    return this.#held ?? this.#now;
  }

  /** Runs code to which it is another time. */
  async at<T>(time: number, run: () => Promise<T>): Promise<T> {
    this.#held = time;
    try {
      return await run();
    } finally {
      this.#held = null;
    }
  }

  /** When the next timer is due; null where none is set that could fire. */
  get nextAt(): number | null {
    return this.#next()?.[1].at ?? null;
  }

  /** Moves on to a time that no timer comes before, or fires the first that does. */
  moveTo(time: number): void {
    const next = this.#next();
    if (next === undefined || next[1].at > time) {
      this.#now = Math.max(this.#now, time);
      return;
    }
    const [id, timer] = next;
    this.#now = Math.max(this.#now, timer.at);
    if (timer.everyMs === null) this.#timers.delete(id);
    else timer.at = this.#now + timer.everyMs;
    timer.fire();
  }

  set(callback: Callback, ms: number, everyMs: number | null = null): number {
    const owner = here();
    this.#order += 1;
    const within = AsyncLocalStorage.snapshot();
    const delay = Number.isFinite(ms) && ms > 0 ? Math.ceil(ms) : 0;
    this.#timers.set(this.#order, { owner, fire: () => within(callback), everyMs, at: this.now + delay });
    return this.#order;
  }

  clear(id: unknown): void {
    if (id !== undefined && id !== null) this.#timers.delete(Number(id));
  }

  #next(): [number, Timer] | undefined {
    let next: [number, Timer] | undefined;
    for (const entry of this.#timers) {
      const state = entry[1].owner?.state;
      if (state === 'dead') this.#timers.delete(entry[0]);
      if (state === 'dead' || state === 'frozen') continue;
      if (next === undefined || entry[1].at < next[1].at) next = entry;
    }
    return next;
  }

  /** Makes this process go by it, until the returned function is called. */
  install(): () => void {
    const real = { ...pick(globalThis), now: performance.now, sleep: promises.setTimeout };
    const clock = this;
    const RealDate = real.Date;
    class VirtualDate extends RealDate {
      constructor(...args: unknown[]) {
        super(...((args.length === 0 ? [clock.now] : args) as [number]));
      }
      static override now(): number {
        return clock.now;
      }
    }
    const handle = (id: number) => new Handle(id);
    Object.assign(globalThis, {
      Date: VirtualDate,
      setTimeout: (callback: Callback, ms = 0, ...args: unknown[]) => handle(this.set(() => callback(...args), ms)),
      setInterval: (callback: Callback, ms = 0, ...args: unknown[]) =>
        handle(this.set(() => callback(...args), ms, Math.max(1, ms))),
      clearTimeout: (id: unknown) => this.clear(id),
      clearInterval: (id: unknown) => this.clear(id),
    });
    performance.now = () => this.now - this.#start;
    promises.setTimeout = <T>(ms = 0, value?: T, options?: Options) => this.#sleep(ms, value, options) as Promise<T>;
    syncBuiltinESMExports();
    return () => {
      const { now, sleep, ...globals } = real;
      Object.assign(globalThis, globals);
      performance.now = now;
      promises.setTimeout = sleep;
      syncBuiltinESMExports();
    };
  }

  #sleep(ms: number, value: unknown, { signal }: Options = {}): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        this.clear(id);
        reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError', code: 'ABORT_ERR' }));
      };
      const id = this.set(() => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      }, ms);
      if (signal?.aborted) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
  }
}

/** What stands for a timer, as Node's own does. */
class Handle {
  readonly #id: number;
  constructor(id: number) {
    this.#id = id;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  [Symbol.toPrimitive](): number {
    return this.#id;
  }
}

const pick = (from: typeof globalThis) => ({
  Date: from.Date,
  setTimeout: from.setTimeout,
  setInterval: from.setInterval,
  clearTimeout: from.clearTimeout,
  clearInterval: from.clearInterval,
});
