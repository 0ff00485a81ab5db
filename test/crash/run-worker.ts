import {
  DefaultLogger,
  makeTelemetryFilterString,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerPlugin,
} from '@temporalio/worker';

export interface WorkerRun {
  readonly temporal: string;
  readonly taskQueue: string;
  /** File with the workflow bundle; null where the workflows run elsewhere. */
  readonly bundle: string | null;
  readonly plugins: readonly WorkerPlugin[];
  /** From where on the SDK's core says what is wrong. Default `ERROR`. */
  readonly core?: 'WARN' | 'ERROR';
}

const activitiesOnly: WorkerPlugin = {
  name: 'activities only',
  configureWorker: ({ workflowsPath: _, ...rest }) => rest,
};

/** Runs a worker until the process that started this one says so, or a SIGTERM does. */
export async function workUntilTold({
  temporal,
  taskQueue,
  bundle,
  plugins,
  core = 'ERROR',
}: WorkerRun): Promise<void> {
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core }) } },
    shutdownSignals: [],
  });
  const connection = await NativeConnection.connect({ address: temporal });
  const worker = await Worker.create({
    connection,
    taskQueue,
    ...(bundle === null ? {} : { workflowBundle: { codePath: bundle } }),
    plugins: [...plugins, ...(bundle === null ? [activitiesOnly] : [])],
  });
  await worker.runUntil(
    new Promise<void>((resolve) => {
      for (const told of ['disconnect', 'SIGTERM'] as const) process.once(told, resolve);
      process.send?.('ready');
    }),
  );
  await connection.close();
  if (process.connected) process.disconnect();
}
