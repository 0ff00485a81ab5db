import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { z } from 'zod';
import { ApomeshClient } from '../../src/client/client.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import type { Services } from '../../src/services/services.ts';
import { configOf, Deeds } from '../support/deeds.ts';
import type { PoolWorkerOptions } from '../support/pool-worker.ts';
import { goalModel } from '../support/script.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import { modes } from './modes.ts';

const QUEUE = 'apomesh';
const ELSEWHERE = 'elsewhere';
const DATABASE = 'histories';

export const DEADLINE_MS = 3_000;

/** Where sessions are run whose histories are kept: a worker that can be lost, and one that takes over. */
export interface Stage {
  readonly client: Client;
  readonly apomesh: ApomeshClient;
  readonly deeds: Deeds;
  start(agent: string, goal: string): Promise<SessionHandle>;
  /** Runs a worker that is killed once the work is done. */
  losing(work: () => Promise<void>): Promise<void>;
  /** Runs the workers that are not lost. */
  running(work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** What deeds need, in slices of one node, with a tool that runs in another pool and an agent that has no time. */
function stagedConfig(folder: string): ApomeshConfig {
  const { tools = [], limits, agents = [], ...config } = configOf(folder);
  const far = defineTool({
    name: 'far',
    description: 'Runs elsewhere.',
    input: z.object({}),
    taskQueue: ELSEWHERE,
    run: () => 'far away',
  });
  const more = modes.flatMap((dispatch) => [
    defineAgent({ name: `far-${dispatch}`, model: 'goals', instructions: '', tools: ['far', 'look'], dispatch }),
    defineAgent({
      name: `hasty-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: ['permit'],
      dispatch,
      budget: { deadline: DEADLINE_MS },
    }),
  ]);
  const models = { ...config.models, goals: goalModel().model };
  return {
    ...config,
    models,
    tools: [...tools, far],
    agents: [...agents, ...more],
    limits: { ...limits, sliceNodes: 1 },
  };
}

export async function openStage({ temporal, mongo }: Services, folder: string): Promise<Stage> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  mkdirSync(folder, { recursive: true });
  const plugin = new ApomeshPlugin(stagedConfig(folder), { mongo: { uri: mongo.uri, database: DATABASE } });
  const logger = new DefaultLogger('ERROR');
  const workflowBundle = await bundleWorkflowCode({ workflowsPath: '', plugins: [plugin], logger });
  const bundle = join(folder, 'workflows.js');
  writeFileSync(bundle, workflowBundle.code);
  const { address } = temporal;
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address }),
    Connection.connect({ address }),
  ]);
  const client = new Client({ connection, plugins: [plugin] });
  const apomesh = new ApomeshClient({ client });
  const config = new URL('../support/deeds.ts', import.meta.url).href;
  const process: PoolWorkerOptions = {
    ...{ config, folder, bundle, temporal: address, mongo: mongo.uri, database: DATABASE, taskQueue: QUEUE },
  };
  return {
    client,
    apomesh,
    deeds: new Deeds(folder),
    start: (agent, goal) => apomesh.sessions.start({ agent, goal }),
    losing: async (work) => {
      const lost = await WorkerProcess.start(new URL('../support/pool-worker.ts', import.meta.url), process);
      await work().finally(() => lost.kill('SIGKILL'));
      await lost.gone;
    },
    running: async (work) => {
      const workers = await Promise.all(
        [QUEUE, ELSEWHERE].map((taskQueue) =>
          Worker.create({ connection: native, taskQueue, plugins: [plugin], workflowBundle }),
        ),
      );
      const working = work();
      await Promise.all(workers.map((worker) => worker.runUntil(working.catch(() => undefined))));
      await working;
    },
    close: async () => {
      await apomesh.close();
      await Promise.all([native.close(), connection.close()]);
    },
  };
}
