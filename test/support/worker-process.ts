import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STOP_MS = 20_000;

/** A worker in a process of its own. Its module says `process.send('ready')` once it runs, and ends on `disconnect`. */
export class WorkerProcess {
  readonly pid: number;
  /** Settles when the process is gone, with the signal that ended it or its exit code. */
  readonly gone: Promise<NodeJS.Signals | number>;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    if (child.pid === undefined) throw new Error('a worker process could not be started');
    this.#child = child;
    this.pid = child.pid;
    this.gone = once(child, 'exit').then(([code, signal]) => signal ?? code);
  }

  /**
   * Runs a module with options, which it finds as JSON in `process.argv[2]`. Resolves once its worker runs.
   *
   * @param log file for what it says, in place of this process's own output.
   */
  static async start(module: URL, options: unknown, log?: string): Promise<WorkerProcess> {
    const execArgv = ['--conditions=apomesh:source', '--disable-warning=ExperimentalWarning'];
    const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'apomesh-compile-cache') };
    const said = log === undefined ? 'inherit' : openSync(log, 'a');
    const stdio: StdioOptions = ['ignore', said, said, 'ipc'];
    const child = fork(fileURLToPath(module), [JSON.stringify(options)], { execArgv, env, stdio });
    if (typeof said === 'number') closeSync(said);
    const started = new WorkerProcess(child);
    const early = started.gone.then((how) => {
      throw new Error(`a worker process ended before it was ready (${how})`);
    });
    await Promise.race([once(child, 'message'), early]);
    return started;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
    this.#child.kill(signal);
  }

  /** Shuts the worker down in order, and if need be not. */
  async stop(): Promise<void> {
    if (!this.isRunning) return;
    if (this.#child.connected) this.#child.disconnect();
    const timer = setTimeout(() => this.kill('SIGKILL'), STOP_MS);
    await this.gone;
    clearTimeout(timer);
  }
}
