import { type MongoOptions, type MongoService, startMongo } from './mongo.ts';
import type { Say } from './service.ts';
import { startTemporal, type TemporalOptions, type TemporalService } from './temporal.ts';

type Shared = 'dataDir' | 'binDir' | 'say';

export interface ServicesOptions {
  /** Folder for the servers' data; made where missing. */
  readonly dataDir: string;
  /** Folder for programs that are fetched. Default `dataDir`. */
  readonly binDir?: string;
  readonly temporal?: Omit<TemporalOptions, Shared>;
  readonly mongo?: Omit<MongoOptions, Shared>;
  readonly say: Say;
}

export interface Services {
  readonly temporal: TemporalService;
  readonly mongo: MongoService;
  /** Process ids of what was started here. */
  readonly pids: readonly number[];
  /** Stops what was started here. */
  stop(): Promise<void>;
  /** Lets what was started here live on after this process; it then is the caller's to stop, by `pids`. */
  release(): void;
}

/** Finds or starts Temporal and MongoDB, both at once. When one fails the other is stopped again. */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const { dataDir, binDir = dataDir, say } = options;
  const [temporal, mongo] = await Promise.allSettled([
    startTemporal({ ...options.temporal, dataDir, binDir, say }),
    startMongo({ ...options.mongo, dataDir, binDir, say }),
  ]);
  if (temporal.status === 'rejected' || mongo.status === 'rejected') {
    await Promise.all([temporal, mongo].map((one) => (one.status === 'fulfilled' ? one.value.stop() : undefined)));
    throw temporal.status === 'rejected' ? temporal.reason : (mongo as PromiseRejectedResult).reason;
  }
  const both = [temporal.value, mongo.value];
  return {
    temporal: temporal.value,
    mongo: mongo.value,
    pids: both.flatMap((one) => (one.pid === null ? [] : [one.pid])),
    stop: async () => {
      await Promise.all(both.map((one) => one.stop()));
    },
    release: () => {
      for (const one of both) one.release();
    },
  };
}
