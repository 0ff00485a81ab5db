import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Moment } from './moments.ts';
import type { WorkerOptions } from './worker.ts';

const WORKER = new URL('./worker.ts', import.meta.url);

/** Worker processes of one pool. For each one that is killed a new one is started. */
export class Crew {
  /** Ways in which a process has ended of its own accord: there should be none. */
  readonly accidents: string[] = [];
  kills = 0;
  readonly #options: WorkerOptions;
  readonly #members = new Set<WorkerProcess>();
  readonly #relieved = new Set<WorkerProcess>();
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

  /** Id of the process that a session's moment has hit, or null as long as it has not come. */
  hit(session: string): number | null {
    const file = join(this.#options.folder, `${session}.hit`);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : null;
  }

  /** The moments that have come. */
  hits(): Moment[] {
    return this.#options.moments.filter(({ session }) => this.hit(session) !== null);
  }

  thaw(pid: number | null): void {
    for (const member of this.#members) if (member.pid === pid) member.kill('SIGCONT');
  }

  /** Replaces all members one after the other, each shut down in order once another has come. */
  async relieve(): Promise<void> {
    for (const member of [...this.#members]) {
      await this.#add();
      this.#relieved.add(member);
      member.kill('SIGTERM');
      await member.gone;
    }
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
    void member.gone.then((how) => this.#replace(member, how));
  }

  #replace(member: WorkerProcess, how: NodeJS.Signals | number): void {
    this.#members.delete(member);
    if (this.#isClosing || (this.#relieved.has(member) && how === 0)) return;
    if (how === 'SIGKILL') this.kills += 1;
    else this.accidents.push(`worker ${member.pid} ended with ${how}`);
    this.#killOther(member.pid);
    const adding = this.#add().catch((error: unknown) => {
      if (!this.#isClosing) this.accidents.push(String(error));
    });
    this.#joining = Promise.all([this.#joining, adding]);
  }

  /** Where the moment says so, the worker that was spared dies a little later. */
  #killOther(pid: number): void {
    const after = this.hits().find(({ session }) => this.hit(session) === pid)?.otherAfterMs ?? null;
    if (after !== null) setTimeout(() => [...this.#members].at(0)?.kill('SIGKILL'), after);
  }
}
