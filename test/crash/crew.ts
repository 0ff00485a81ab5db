import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Moment } from './moments.ts';
import type { WorkerOptions } from './worker.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/** Worker processes of one pool. For each one that is killed a new one is started. */
export class Crew {
  /** Ways in which a process has ended of its own accord: there should be none. */
  readonly accidents: string[] = [];
  readonly #options: WorkerOptions;
  readonly #members = new Set<WorkerProcess>();
  #joining: Promise<unknown> = Promise.resolve();
  #isClosing = false;

  private constructor(options: WorkerOptions) {
    this.#options = options;
  }

  static async open(count: number, options: WorkerOptions): Promise<Crew> {
    const crew = new Crew(options);
    await Promise.all(Array.from({ length: count }, () => crew.#add()));
    return crew;
  }

  /** The moments that have come, each with the process that it hit. */
  hits(): { moment: Moment; pid: number }[] {
    const { folder, moments } = this.#options;
    const names = new Set(readdirSync(folder));
    return moments
      .filter(({ id }) => names.has(`${id}.hit`))
      .map((moment) => ({ moment, pid: Number(readFileSync(join(folder, `${moment.id}.hit`), 'utf8')) }));
  }

  /** Waits until the process that a moment stopped is there, and gives the means to let it go on. */
  frozenAt({ id }: Moment): (() => void) | null {
    const file = join(this.#options.folder, `${id}.hit`);
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    const member = [...this.#members].find((one) => one.pid === pid);
    return member ? () => member.kill('SIGCONT') : null;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#joining;
    for (const member of this.#members) member.kill('SIGCONT');
    await Promise.all([...this.#members].map((member) => member.stop()));
  }

  async #add(): Promise<void> {
    const member = await WorkerProcess.start(WORKER, this.#options);
    this.#members.add(member);
    void member.gone.then((how) => {
      this.#members.delete(member);
      if (this.#isClosing) return;
      if (how !== 'SIGKILL') this.accidents.push(`worker ${member.pid} ended with ${how}`);
      this.#killOther(member.pid);
      this.#replace();
    });
  }

  #replace(): void {
    const adding = this.#add().catch((error: unknown) => {
      if (!this.#isClosing) this.accidents.push(String(error));
    });
    this.#joining = Promise.all([this.#joining, adding]);
  }

  /** Where the moment says so, the worker that was spared dies a little later. */
  #killOther(pid: number): void {
    const after = this.hits().find((hit) => hit.pid === pid)?.moment.otherAfterMs ?? null;
    const [other] = this.#members;
    if (after !== null && other) setTimeout(() => other.kill('SIGKILL'), after);
  }
}
