import { setTimeout as sleep } from 'node:timers/promises';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { TemporalUnreachableError } from '../contract/errors.ts';
import { DEFAULT_TASK_QUEUE } from '../contract/session.ts';
import type { MongoConfig, ResolvedConfig } from '../plugin/config.ts';
import { ApomeshPlugin } from '../plugin/plugin.ts';

export interface RunWorkerOptions {
  readonly config: ResolvedConfig;
  readonly address: string;
  readonly namespace: string;
  readonly mongo: MongoConfig;
  readonly taskQueue?: string;
  /** Lets the worker's agents go and ends it. */
  readonly signal: AbortSignal;
  /** Called when the worker takes tasks. */
  readonly onReady: (worker: { taskQueue: string; identity: string }) => Promise<void>;
}

const CONNECT_MS = 4_000;

/** Runs a worker until it is told to end. @throws {TemporalUnreachableError} {@link StoreUnreachableError} within 10 seconds. */
export async function runWorker(options: RunWorkerOptions): Promise<void> {
  const { config, address, namespace, mongo, taskQueue = DEFAULT_TASK_QUEUE, signal, onReady } = options;
  // Signals are this program's to handle: `dev` has more to stop than a worker.
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('WARN') });
  const plugin = new ApomeshPlugin(config, { mongo });
  const [connection] = await Promise.all([connect(address), checkStore(plugin)]);
  try {
    const worker = await Worker.create({ connection, namespace, taskQueue, plugins: [plugin] });
    if (signal.aborted) return;
    const running = worker.run();
    await Promise.race([running, untilRunning(worker, running)]);
    if (signal.aborted) worker.shutdown();
    else signal.addEventListener('abort', () => worker.getState() === 'RUNNING' && worker.shutdown(), { once: true });
    await onReady({ taskQueue, identity: worker.options.identity });
    await running;
  } finally {
    // A worker that could not start still holds on to it.
    await connection.close().catch(() => undefined);
  }
}

/** Bundling the workflows takes a while: a store that is away must show before. */
async function checkStore(plugin: ApomeshPlugin): Promise<void> {
  const stores = plugin.openStores();
  try {
    await stores.prepare();
  } finally {
    await stores.close();
  }
}

/** Resolves when the worker takes tasks, or has ended without. */
async function untilRunning(worker: Worker, running: Promise<void>): Promise<void> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  running.then(end, end);
  while (!ended && worker.getState() !== 'RUNNING') await sleep(20);
}

async function connect(address: string): Promise<NativeConnection> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('no answer')), CONNECT_MS);
  try {
    return await Promise.race([NativeConnection.connect({ address }), tooLate]);
  } catch (error) {
    throw new TemporalUnreachableError(address, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
