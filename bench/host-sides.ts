import { Client, type Connection } from '@temporalio/client';
import { type NativeConnection, Worker } from '@temporalio/worker';
import { ApomeshClient } from '../src/client/client.ts';
import { ApomeshPlugin } from '../src/plugin/plugin.ts';
import { memoryStores } from '../src/stores/memory/stores.ts';
import { openMongo } from '../src/stores/mongo/connect.ts';
import { storesOver } from '../src/stores/mongo/stores.ts';
import type { HostOptions } from './host-messages.ts';
import { plainActivities } from './plain/activities.ts';
import { sides } from './sides.ts';
import { TrafficCount } from './traffic.ts';
import { goalOf, instructions, noteTool, workModel } from './work.ts';

/** One side, with its worker and its client. */
export interface HostSide {
  readonly worker: Worker;
  readonly client: Client;
  readonly traffic: TrafficCount | null;
  /** Returns once the session's workflow has started. */
  start(session: string, steps: number): Promise<void>;
  close(): Promise<void>;
}

export interface Connections {
  readonly native: NativeConnection;
  readonly client: Connection;
}

type OnGeneration = (session: string, node: number) => void;

export const openSide = (options: HostOptions, connections: Connections, onGeneration: OnGeneration) =>
  options.side === 'plain'
    ? plainSide(options, connections, onGeneration)
    : apomeshSide(options, connections, onGeneration);

async function plainSide(
  { taskQueue, bundle, latencyMs }: HostOptions,
  { native, client: connection }: Connections,
  onGeneration: OnGeneration,
): Promise<HostSide> {
  const client = new Client({ connection });
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { codePath: bundle },
    activities: plainActivities(workModel({ onGeneration, latencyMs })),
  });
  return {
    worker,
    client,
    traffic: null,
    start: async (session, steps) => {
      const args = [instructions, goalOf(session, steps)];
      await client.workflow.start('plainSession', { workflowId: session, taskQueue, args });
    },
    close: async () => {},
  };
}

async function apomeshSide(
  options: HostOptions,
  { native, client: connection }: Connections,
  onGeneration: OnGeneration,
): Promise<HostSide> {
  const { side, taskQueue, bundle, latencyMs, heartbeatTimeoutMs } = options;
  const { stores, traffic } = openStores(options);
  const config = {
    models: { work: workModel({ onGeneration, latencyMs }) },
    tools: [noteTool],
    agents: [
      { name: 'clerk', model: 'work', instructions, tools: [noteTool.name], dispatch: sides[side].dispatch ?? 'loop' },
    ],
    limits: { heartbeatTimeout: heartbeatTimeoutMs },
  };
  const plugin = new ApomeshPlugin(config, { stores });
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { codePath: bundle },
    plugins: [plugin],
  });
  const client = new Client({ connection, plugins: [plugin] });
  const apomesh = new ApomeshClient({ client });
  return {
    worker,
    client,
    traffic,
    start: async (session, steps) => {
      await apomesh.sessions.start({ agent: 'clerk', goal: goalOf(session, steps), id: session, taskQueue });
    },
    close: () => stores.close(),
  };
}

function openStores({ side, mongo: uri, database, counted }: HostOptions) {
  if (sides[side].store === 'memory') return { stores: memoryStores(), traffic: null };
  const monitored = `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
  const mongo = openMongo({ uri: counted ? monitored : uri, database });
  return { stores: storesOver(mongo), traffic: counted ? new TrafficCount(mongo.client) : null };
}
