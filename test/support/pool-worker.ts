import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import type { LimitsConfig } from '../../src/plugin/limits.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';

/** What a worker process is started with. */
export interface PoolWorkerOptions {
  /** Module that exports `configOf(folder)`. */
  readonly config: string;
  readonly folder: string;
  readonly temporal: string;
  readonly mongo: string;
  readonly database: string;
  readonly taskQueue: string;
  /** File with the workflow bundle. */
  readonly bundle: string;
  /** Before those of the config. */
  readonly limits?: LimitsConfig;
}

const options = JSON.parse(process.argv[2] ?? '') as PoolWorkerOptions;
const { configOf } = (await import(options.config)) as { configOf: (folder: string) => ApomeshConfig };
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address: options.temporal });
const config = configOf(options.folder);
const limits = { ...config.limits, ...options.limits };
const mongo = { uri: options.mongo, database: options.database };
const worker = await Worker.create({
  connection,
  taskQueue: options.taskQueue,
  workflowBundle: { codePath: options.bundle },
  plugins: [new ApomeshPlugin({ ...config, limits }, { mongo })],
});
process.once('disconnect', () => worker.getState() === 'RUNNING' && worker.shutdown());
const running = worker.run();
process.send?.('ready');
await running;
await connection.close();
if (process.connected) process.disconnect();
