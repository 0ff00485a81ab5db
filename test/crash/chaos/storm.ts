import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from './fleet.ts';
import type { Disturbance, Disturbing } from './plan.ts';
import type { Servers } from './servers.ts';

/** Lets things go wrong as planned. */
export class Storm {
  /** What went wrong, with how often. */
  readonly counts: Partial<Record<Disturbing, number>> = {};
  readonly #servers: Servers;
  readonly #fleet: Fleet;
  readonly #say: (line: string) => void;
  readonly #away = new Set<'temporal' | 'mongo'>();

  constructor(servers: Servers, fleet: Fleet, say: (line: string) => void) {
    this.#servers = servers;
    this.#fleet = fleet;
    this.#say = say;
  }

  /** Resolves once all of it is over, and every server is back. */
  async run(disturbances: readonly Disturbance[]): Promise<void> {
    const began = performance.now();
    const all = disturbances.map(async (one) => {
      await sleep(one.atMs - (performance.now() - began));
      if (!(await this.#disturb(one))) return;
      this.counts[one.what] = (this.counts[one.what] ?? 0) + 1;
    });
    await Promise.all(all);
  }

  /** False where there was nothing to disturb. */
  async #disturb(one: Disturbance): Promise<boolean> {
    const { what, which, forMs } = one;
    this.#say(`${what} (${forMs} ms)`);
    switch (what) {
      case 'worker killed':
        return this.#fleet.signal(which, 'SIGKILL') !== null;
      case 'worker told to end':
        return this.#fleet.signal(which, 'SIGTERM') !== null;
      case 'worker stopped': {
        const pid = this.#fleet.signal(which, 'SIGSTOP');
        await sleep(forMs);
        this.#fleet.thaw(pid);
        return pid !== null;
      }
      case 'store killed':
        return this.#fell('mongo', forMs);
      case 'Temporal killed':
        return this.#fell('temporal', forMs);
      case 'Temporal lost':
        return this.#fell('temporal', forMs, () => this.#servers.forget());
      default:
        throw new TypeError(`unknown disturbance ${JSON.stringify(what satisfies never)}`);
    }
  }

  async #fell(name: 'temporal' | 'mongo', forMs: number, meanwhile: () => void = () => undefined): Promise<boolean> {
    if (this.#away.has(name)) return false;
    this.#away.add(name);
    await this.#servers[name].kill();
    meanwhile();
    await sleep(forMs);
    await this.#servers[name].start();
    this.#away.delete(name);
    return true;
  }
}
