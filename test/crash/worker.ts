import { join } from 'node:path';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerPlugin,
} from '@temporalio/worker';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import type { Moment } from './moments.ts';
import { Trap, trapped } from './trap.ts';
import { workConfig } from './work.ts';

/** What the process of a worker is started with. */
export interface WorkerOptions {
  readonly folder: string;
  readonly temporal: string;
  readonly mongo: string;
  readonly database: string;
  readonly taskQueue: string;
  /** File with the workflow bundle; null where the workflows run elsewhere. */
  readonly bundle: string | null;
  readonly timeoutMs: number;
  readonly paceMs?: number;
  readonly moments: readonly Moment[];
}

const options = JSON.parse(process.argv[2] ?? '') as WorkerOptions;
const { folder, timeoutMs, paceMs } = options;
const trap = new Trap(folder, options.moments);
const mongo = mongoStores({ uri: options.mongo, database: options.database });
const stores = trapped(mongo, trap, join(folder, `${process.pid}.acknowledged`));
Runtime.install({
  logger: new DefaultLogger('ERROR'),
  telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR' }) } },
  shutdownSignals: [],
});
const plugin = new ApomeshPlugin(workConfig({ folder, timeoutMs, ...(paceMs && { paceMs }), reached: trap.reached }), {
  stores,
});
const activitiesOnly: WorkerPlugin = {
  name: 'activities only',
  configureWorker: ({ workflowsPath: _, ...rest }) => rest,
};
const connection = await NativeConnection.connect({ address: options.temporal });
const worker = await Worker.create({
  connection,
  taskQueue: options.taskQueue,
  ...(options.bundle === null ? {} : { workflowBundle: { codePath: options.bundle } }),
  plugins: [plugin, ...(options.bundle === null ? [activitiesOnly] : [])],
});
await worker.runUntil(
  new Promise<void>((resolve) => {
    process.once('disconnect', resolve);
    process.once('SIGTERM', resolve);
    process.send?.('ready');
  }),
);
await stores.close();
await connection.close();
if (process.connected) process.disconnect();
