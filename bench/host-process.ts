import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromHost, HostOptions, RunRequest, RunResult, ToHost } from './host-messages.ts';

const HOST = fileURLToPath(new URL('./host.ts', import.meta.url));

/** A host process, from outside. */
export class HostProcess {
  readonly #child: ChildProcess;
  readonly #listeners = new Set<(node: number) => void>();
  #settle: { resolve: (result: RunResult | null) => void; reject: (error: Error) => void } | null = null;

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message: FromHost) => this.#take(message));
    child.once('exit', (code, signal) => this.#settle?.reject(new Error(`a host ended (${signal ?? code})`)));
  }

  /** Resolves once its worker runs. */
  static async open(options: HostOptions): Promise<HostProcess> {
    const child = fork(HOST, [JSON.stringify(options)]);
    const host = new HostProcess(child);
    await host.#asked();
    return host;
  }

  async run(request: RunRequest): Promise<RunResult> {
    const result = await this.#ask({ run: request });
    if (result === null) throw new Error('the host gave no result');
    return result;
  }

  async start(session: string, steps: number): Promise<void> {
    await this.#ask({ start: { session, steps } });
  }

  async terminate(session: string): Promise<void> {
    await this.#ask({ terminate: session });
  }

  /** Calls back as each generation begins. */
  onGeneration(listener: (node: number) => void): void {
    this.#listeners.add(listener);
  }

  /** SIGKILL. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    const timer = setTimeout(() => this.kill(), 15_000);
    await gone;
    clearTimeout(timer);
  }

  #ask(message: ToHost): Promise<RunResult | null> {
    const asked = this.#asked();
    this.#child.send(message);
    return asked;
  }

  #asked(): Promise<RunResult | null> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  #take(message: FromHost): void {
    if ('generation' in message) for (const listener of this.#listeners) listener(message.generation.node);
    else if ('failed' in message) this.#settle?.reject(new Error(message.failed));
    else this.#settle?.resolve('ready' in message ? null : message.result);
  }
}
