import { randomUUID } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { Client, type ClientInterceptors, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import {
  bundleWorkflowCode,
  DefaultLogger,
  GracefulShutdownPeriodExpiredError,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import { ApomeshClient } from '../../src/client/client.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import type { SessionInput } from '../../src/contract/session.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import type { Stores } from '../../src/ports/store.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { until } from './until.ts';

/** Where the tests' Temporal and MongoDB are. */
export const addressOf = () => process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
export const mongoUriOf = () => process.env['MONGODB_URI'] ?? 'mongodb://127.0.0.1:27017';

/** A name that no other test has. */
export const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

/** A store in the tests' MongoDB, in a database of its own unless one is named; closed when the test file is over. */
export function openMongo(database = unique('test'), uri = mongoUriOf()): Stores {
  const stores = mongoStores({ uri, database });
  opened.push(stores);
  return stores;
}

export interface PoolOptions {
  /** Default: in memory. */
  readonly stores?: Stores;
  /** Default: one of its own. */
  readonly taskQueue?: string;
  /** Default: that of the tests. */
  readonly address?: string;
  /** Default `default`. */
  readonly namespace?: string;
  readonly worker?: Partial<WorkerOptions>;
  /** Longest time of a workflow task, in milliseconds: what a worker that is frozen costs. Default: Temporal's 10 seconds. */
  readonly workflowTaskMs?: number;
  /** How long the first run of a session's workflow may take, in milliseconds: then Temporal gives it up. */
  readonly firstRunMs?: number;
  /** Where false, `run` starts it. Default true. */
  readonly running?: boolean;
}

/** A worker in this process, and a client for its sessions. */
export interface Pool {
  readonly apomesh: ApomeshClient;
  readonly client: Client;
  readonly stores: Stores;
  readonly taskQueue: string;
  readonly worker: Worker;
  /** Starts a session on this pool. */
  start(agent: string, goal?: string, id?: string): Promise<SessionHandle>;
  run(): void;
  /** Shuts the worker down in order. */
  stop(): Promise<void>;
}

let bundled: ReturnType<typeof bundleWorkflowCode> | undefined;
let isQuiet = false;
const connections = new Map<string, Promise<{ native: NativeConnection; connection: Connection }>>();
const pools: Pool[] = [];
const opened: Stores[] = [];

/** The built-in workflows, bundled once for all workers of a test file. */
export function bundle(): ReturnType<typeof bundleWorkflowCode> {
  beQuiet();
  const plugins = [new ApomeshPlugin({})];
  bundled ??= bundleWorkflowCode({ workflowsPath: '', plugins, logger: new DefaultLogger('ERROR') });
  return bundled;
}

/** Workers say only what is wrong. */
export function beQuiet(): void {
  if (!isQuiet) Runtime.install({ logger: new DefaultLogger('ERROR') });
  isQuiet = true;
}

export async function connect(address = addressOf()) {
  beQuiet();
  let made = connections.get(address);
  made ??= Promise.all([NativeConnection.connect({ address }), Connection.connect({ address })]).then(
    ([native, connection]) => ({ native, connection }),
  );
  connections.set(address, made);
  return made;
}

/** A worker pool with a config, stopped when the test file is over. */
export async function startPool(config: ApomeshConfig, options: PoolOptions = {}): Promise<Pool> {
  const { stores = memoryStores(), taskQueue = unique('queue'), running = true, namespace = 'default' } = options;
  const limits = { heartbeatTimeout: '2s', ...config.limits } as const;
  // Of the tests that share a namespace each has a store of its own, which no scan but its own should see to.
  const plugin = new ApomeshPlugin({ recovery: false, ...config, limits }, { stores });
  const { native, connection } = await connect(options.address);
  const worker = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    plugins: [plugin],
    workflowBundle: await bundle(),
    shutdownForceTime: '10s',
    ...options.worker,
  });
  const client = new Client({ connection, namespace, plugins: [plugin], interceptors: interceptorsOf(options) });
  const apomesh = new ApomeshClient({ client });
  let ran: Promise<void> | null = null;
  const pool: Pool = {
    apomesh,
    client,
    stores,
    taskQueue,
    worker,
    start: (agent, goal = 'do it', id = unique('s')) => apomesh.sessions.start({ agent, goal, id, taskQueue }),
    run: () => {
      ran ??= worker.run();
      ran.catch(() => undefined);
    },
    stop: async () => {
      // A worker that never ran would hold on to its connection.
      pool.run();
      await Promise.race([until('it runs', () => worker.getState() !== 'INITIALIZED'), ran]).catch(() => undefined);
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ran?.catch((error: unknown) => {
        if (!(error instanceof GracefulShutdownPeriodExpiredError)) throw error;
      });
    },
  };
  pools.push(pool);
  if (running) pool.run();
  return pool;
}

function interceptorsOf({ workflowTaskMs, firstRunMs }: PoolOptions): ClientInterceptors {
  const start: WorkflowClientInterceptor['start'] = (input, next) => {
    const [session] = input.options.args as [Partial<SessionInput>?];
    const options = {
      ...input.options,
      ...(workflowTaskMs !== undefined && { workflowTaskTimeout: msToTs(workflowTaskMs) }),
      ...(firstRunMs !== undefined && session?.resume === 0 && { workflowRunTimeout: msToTs(firstRunMs) }),
    };
    return next({ ...input, options });
  };
  return { workflow: [{ start }] };
}

/** Stops all workers and closes all connections of the test file; done when it is over, unless it does so itself. */
export async function closePools(): Promise<void> {
  await Promise.all(pools.splice(0).map((pool) => pool.stop()));
  await Promise.all(opened.splice(0).map((stores) => stores.close()));
  for (const made of connections.values()) {
    const { native, connection } = await made;
    await Promise.all([native.close(), connection.close()]);
  }
  connections.clear();
}

afterAll(closePools);
