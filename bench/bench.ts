import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { type Services, startServices } from '../src/services/services.ts';
import type { HostOptions } from './host-messages.ts';
import { HostProcess } from './host-process.ts';
import type { Side } from './sides.ts';

export interface BenchOptions {
  /** Fewer and smaller runs: to see that it works, and a first idea. */
  readonly quick: boolean;
  readonly say: (line: string) => void;
}

/** The services of one run of the bench, the same for all that is compared, and the host processes on them. */
export class Bench {
  readonly quick: boolean;
  readonly say: (line: string) => void;
  readonly #dir: string;
  readonly #services: Services;
  readonly #hosts = new Set<HostProcess>();
  #names = 0;

  private constructor(options: BenchOptions, dir: string, services: Services) {
    this.quick = options.quick;
    this.say = options.say;
    this.#dir = dir;
    this.#services = services;
  }

  /** Uses TEMPORAL_ADDRESS and MONGODB_URI where they are set, else starts both with fresh data. */
  static async open(options: BenchOptions): Promise<Bench> {
    const dir = await mkdtemp(join(tmpdir(), 'apomesh-bench-'));
    const { TEMPORAL_ADDRESS: address, MONGODB_URI: uri } = process.env;
    const services = await startServices({
      dataDir: dir,
      binDir: pathOf('../.apomesh'),
      temporal: address === undefined ? {} : { address },
      mongo: uri === undefined ? {} : { uri },
      say: options.say,
    });
    try {
      await writeBundles(dir);
    } catch (error) {
      await services.stop();
      throw error;
    }
    return new Bench(options, dir, services);
  }

  get mongoUri(): string {
    return this.#services.mongo.uri;
  }

  /** A name that nothing else of this run has. */
  name(start: string): string {
    this.#names += 1;
    return `${start}-${process.pid}-${this.#names}`;
  }

  async host(side: Side, given: Partial<HostOptions> = {}): Promise<HostProcess> {
    const host = await HostProcess.open({
      side,
      temporal: this.#services.temporal.address,
      mongo: this.#services.mongo.uri,
      database: `bench-${process.pid}`,
      taskQueue: this.name(side),
      bundle: bundleOf(this.#dir, side === 'plain' ? 'plain' : 'apomesh'),
      counted: false,
      latencyMs: 0,
      heartbeatTimeoutMs: 10_000,
      tells: false,
      ...given,
    });
    this.#hosts.add(host);
    return host;
  }

  async closeHosts(): Promise<void> {
    await Promise.all([...this.#hosts].map((host) => host.close()));
    this.#hosts.clear();
  }

  async close(): Promise<void> {
    await this.closeHosts();
    await this.#services.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

const workflows = { plain: './plain/workflow.ts', apomesh: '../workflows/index.ts' } as const;

const bundleOf = (dir: string, name: keyof typeof workflows): string => join(dir, `${name}-workflows.js`);

async function writeBundles(dir: string): Promise<void> {
  const logger = new DefaultLogger('WARN');
  for (const name of ['plain', 'apomesh'] as const) {
    const { code } = await bundleWorkflowCode({ workflowsPath: pathOf(workflows[name]), logger });
    await writeFile(bundleOf(dir, name), code);
  }
}
