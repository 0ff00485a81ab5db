import { join } from 'node:path';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import type { Moment } from './moments.ts';
import { workUntilTold } from './run-worker.ts';
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
const plugin = new ApomeshPlugin(workConfig({ folder, timeoutMs, ...(paceMs && { paceMs }), reached: trap.reached }), {
  stores,
});
await workUntilTold({ ...options, plugins: [plugin] });
await stores.close();
