import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkerProcess } from '../../support/worker-process.ts';
import type { ChaosWorkerOptions } from './worker.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/** How long whoever looks after the workers waits before starting one again. */
const AGAIN_MS = 500;

/** Worker processes that are started again whenever one has ended, as a supervisor does. */
export class Fleet {
  /** Ways in which workers have ended that nobody had asked for, with how often. */
  readonly accidents: Record<string, number> = {};
  readonly #options: ChaosWorkerOptions;
  readonly #log: string;
  readonly #running = new Set<WorkerProcess>();
  readonly #told = new Set<number>();
  readonly #lanes: Promise<void>[];
  #isClosing = false;

  constructor(count: number, options: ChaosWorkerOptions) {
    this.#options = options;
    this.#log = join(options.folder, 'workers.log');
    this.#lanes = Array.from({ length: count }, () => this.#lane());
  }

  /** Sends a signal to one of those that run, from 0 up to 1; null where none does. */
  signal(which: number, signal: 'SIGKILL' | 'SIGSTOP' | 'SIGTERM'): number | null {
    const running = [...this.#running];
    const member = running[Math.floor(which * running.length)];
    if (!member) return null;
    if (signal !== 'SIGSTOP') this.#told.add(member.pid);
    member.kill(signal);
    return member.pid;
  }

  /** What workers said of workflow tasks that their code failed. */
  get failedTasks(): string[] {
    const said = existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : '';
    return said.split('\n').filter((line) => line.includes('Failing workflow task'));
  }

  thaw(pid: number | null): void {
    for (const member of this.#running) if (member.pid === pid) member.kill('SIGCONT');
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#running].map((member) => member.stop()));
    await Promise.all(this.#lanes);
  }

  async #lane(): Promise<void> {
    while (!this.#isClosing) {
      const member = await WorkerProcess.start(WORKER, this.#options, this.#log).catch((error: unknown) => {
        this.#note(`at its start: ${error instanceof Error ? error.message : error}`);
        return null;
      });
      if (member) await this.#look(member);
      if (!this.#isClosing) await sleep(AGAIN_MS);
    }
  }

  async #look(member: WorkerProcess): Promise<void> {
    this.#running.add(member);
    if (this.#isClosing) void member.stop();
    const how = await member.gone;
    this.#running.delete(member);
    if (!this.#isClosing && !this.#told.has(member.pid)) this.#note(`with ${how}`);
  }

  #note(how: string): void {
    this.accidents[how] = (this.accidents[how] ?? 0) + 1;
  }
}
