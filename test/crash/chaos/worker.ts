import { join } from 'node:path';
import { ApomeshPlugin } from '../../../src/plugin/plugin.ts';
import { mongoStores } from '../../../src/stores/mongo/stores.ts';
import { workUntilTold } from '../run-worker.ts';
import { Trap, trapped } from '../trap.ts';
import { configOf } from './config.ts';

/** What the process of a worker is started with. */
export interface ChaosWorkerOptions {
  readonly folder: string;
  readonly temporal: string;
  readonly mongo: string;
  readonly database: string;
  /** File with the workflow bundle. */
  readonly bundle: string;
  readonly taskQueue: string;
}

const { folder, mongo, database, ...options } = JSON.parse(process.argv[2] ?? '') as ChaosWorkerOptions;
const noTrap = new Trap(folder, []);
const stores = trapped(mongoStores({ uri: mongo, database }), noTrap, join(folder, `${process.pid}.acknowledged`));
await workUntilTold({ ...options, core: 'WARN', plugins: [new ApomeshPlugin(configOf(folder), { stores })] });
await stores.close();
