import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import type { LimitsConfig } from '../../src/plugin/limits.ts';
import { configOf, Deeds } from './deeds.ts';
import { addressOf, bundle, mongoUriOf, openMongo, type Pool, startPool, unique } from './pool.ts';
import type { PoolWorkerOptions } from './pool-worker.ts';
import { WorkerProcess } from './worker-process.ts';

/** Worker processes that can be lost, and a worker in this process that takes over once it runs. */
export interface TwoWorkers {
  readonly deeds: Deeds;
  readonly survivor: Pool;
  /** Starts one more worker process for the same queue, with limits before those of the config. */
  process(limits?: LimitsConfig): Promise<WorkerProcess>;
}

const folders: string[] = [];
const processes: WorkerProcess[] = [];

export async function twoWorkers(): Promise<TwoWorkers> {
  const folder = mkdtempSync(join(tmpdir(), 'apomesh-workers-'));
  folders.push(folder);
  const database = unique('workers');
  const survivor = await startPool(configOf(folder), {
    stores: openMongo(database),
    running: false,
    workflowTaskMs: 2_000,
  });
  const file = join(folder, 'workflows.js');
  writeFileSync(file, (await bundle()).code);
  const options: PoolWorkerOptions = {
    config: new URL('./deeds.ts', import.meta.url).href,
    folder,
    temporal: addressOf(),
    mongo: mongoUriOf(),
    database,
    taskQueue: survivor.taskQueue,
    bundle: file,
  };
  return {
    deeds: new Deeds(folder),
    survivor,
    process: async (limits = {}) => {
      const started = await WorkerProcess.start(new URL('./pool-worker.ts', import.meta.url), { ...options, limits });
      processes.push(started);
      return started;
    },
  };
}

afterAll(async () => {
  for (const one of processes) if (one.isRunning) one.kill('SIGKILL');
  await Promise.all(processes.map(({ gone }) => gone));
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
