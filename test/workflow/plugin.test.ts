import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { MongoClient } from 'mongodb';
import { z } from 'zod';
import { ApomeshClient } from '../../src/client/client.ts';
import type { SessionStatus } from '../../src/contract/session.ts';
import { type ApomeshConfig, defineAgent, defineTool } from '../../src/index.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { addressOf, beQuiet, bundle, connect, mongoUriOf, openMongo, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { temporalCli } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const note = defineTool({ name: 'note', description: 'Notes.', input: z.object({}), run: () => 'noted' });
const ask = defineTool({ name: 'ask', description: 'Asks.', input: z.object({}), approval: true, run: () => 'asked' });
const config: ApomeshConfig = {
  models: { goals: goalModel().model },
  tools: [note, ask],
  agents: modes.map((dispatch) =>
    defineAgent({ name: `goals-${dispatch}`, model: 'goals', instructions: '', tools: ['note', 'ask'], dispatch }),
  ),
};
const goal = goalOf(calls(['note'], ['note']));

beforeAll(beQuiet);

/** Nothing listens there. */
const NOWHERE = '127.0.0.1:9';

/** A worker that runs while the work does, and a client of the same plugins. */
async function withWorker<T>(
  plugin: ApomeshPlugin,
  options: Partial<WorkerOptions>,
  work: (apomesh: ApomeshClient, client: Client, taskQueue: string) => Promise<T>,
): Promise<T> {
  const plugins = [plugin];
  const [native, connection] = await Promise.all([
    NativeConnection.connect({ address: addressOf(), plugins }),
    Connection.connect({ address: addressOf(), plugins }),
  ]);
  const taskQueue = unique('plugin');
  const worker = await Worker.create({ connection: native, taskQueue, plugins, ...options });
  const client = new Client({ connection, plugins });
  try {
    return await worker.runUntil(() => work(new ApomeshClient({ client }), client, taskQueue));
  } finally {
    await Promise.all([native.close(), connection.close()]);
  }
}

describe('the plugin', () => {
  it('applies once though registered on connections, worker and client, and brings its workflows along', async () => {
    const stores = memoryStores();
    const plugin = new ApomeshPlugin(config, { stores });
    await withWorker(plugin, {}, async (apomesh, _, taskQueue) => {
      const session = await apomesh.sessions.start({ agent: 'goals-loop', goal, id: unique('s'), taskQueue });
      expect(await session.output()).toBe('done');
      expect(await stores.workers()).toHaveLength(1);
      expect((await session.verify()).problems).toEqual([]);
    });
  });

  it("names an activity of the user's that clashes, at start", async () => {
    const { native } = await connect();
    const plugins = [new ApomeshPlugin(config, { stores: memoryStores() })];
    const activities = { callTool: async () => 'mine' };
    const options = { connection: native, taskQueue: 'x', workflowBundle: await bundle(), plugins, activities };
    const made = Worker.create(options);
    await expect(made).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('callTool') });
    const other = new ApomeshPlugin(config, { stores: memoryStores() });
    const twice = Worker.create({ ...options, activities: {}, plugins: [...plugins, other] });
    await expect(twice).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining('two') });
  });

  it("goes along with the user's own activities and workflows, in a workflows file that exports ours", async () => {
    const plugin = new ApomeshPlugin(config, { stores: memoryStores() });
    const options: Partial<WorkerOptions> = {
      workflowsPath: fileURLToPath(new URL('../support/own-workflows.ts', import.meta.url)),
      activities: { mine: async () => 'mine' },
      bundlerOptions: {
        webpackConfigHook: (webpack) => ({
          ...webpack,
          resolve: { ...webpack.resolve, conditionNames: ['apomesh:source', 'import', 'require', 'default'] },
        }),
      },
    };
    await withWorker(plugin, options, async (apomesh, client, taskQueue) => {
      const session = await apomesh.sessions.start({ agent: 'goals-call', goal, id: unique('s'), taskQueue });
      expect(await session.output()).toBe('done');
      const greeted = client.workflow.execute('greeting', { workflowId: unique('w'), taskQueue, args: ['you'] });
      expect(await greeted).toBe('hello you, said apomeshSession');
    });
  });

  it('C4: a replay worker replays what sessions leave behind, with the built-in workflows', async () => {
    const stores = memoryStores();
    const pool = await startPool(config, { stores });
    const plugins = [new ApomeshPlugin(config, { stores })];
    const sessions = await Promise.all(
      modes.map((mode) => pool.start(`goals-${mode}`, goalOf(calls(['note'], ['ask']), calls(['note'])))),
    );
    for (const session of sessions) {
      const { pause } = await until('it waits', async () => (await session.pauses())[0]);
      await session.answer(pause, { decision: 'approve' });
      await session.output();
      const handle = pool.client.workflow.getHandle(session.id);
      await handle.result();
      const history = await handle.fetchHistory();
      await Worker.runReplayHistory({ plugins }, history);
    }
  });

  it('W0: with no workflow cached, everything is replayed at each task, to the same end', async () => {
    const pool = await startPool(config, { worker: { maxCachedWorkflows: 0 }, workflowTaskMs: 2_000 });
    await Promise.all(
      modes.map(async (mode) => {
        const session = await pool.start(`goals-${mode}`, goalOf(calls(['note'], ['ask']), calls(['note'], ['note'])));
        const handle = pool.client.workflow.getHandle(session.id);
        const { pause } = await until('it waits', async () => {
          const status = await handle.query<SessionStatus>('status');
          return Object.values(status.phases).includes('waiting') && status.pauses[0];
        });
        await handle.signal('answer', { pause, decision: 'approve' });
        expect(await session.output()).toBe('done');
        expect(await handle.result()).toMatchObject({ phase: 'completed' });
        expect((await session.verify()).problems).toEqual([]);
      }),
    );
  });

  it('W0: pools with configs of their own share one Temporal and one MongoDB; a tool runs in the pool it is bound to', async () => {
    const database = unique('shared');
    const taskQueue = unique('far');
    const where: string[] = [];
    const far = (pool: string) =>
      defineTool({
        name: 'far',
        description: 'Runs elsewhere.',
        input: z.object({}),
        taskQueue,
        run: () => {
          where.push(pool);
          return `ran in ${pool}`;
        },
      });
    const agents = modes.map((dispatch) =>
      defineAgent({ name: `goals-${dispatch}`, model: 'goals', instructions: '', tools: ['note', 'far'], dispatch }),
    );
    const near = await startPool({ ...config, tools: [note, far('near')], agents }, { stores: openMongo(database) });
    await startPool({ tools: [far('far')] }, { stores: openMongo(database), taskQueue });
    for (const mode of modes) {
      const session = await near.start(`goals-${mode}`, goalOf(calls(['far'], ['note'], ['far'])));
      expect(await session.output()).toBe('done');
      const outcomes = (await session.events()).flatMap(({ type, data }) =>
        type === 'ToolCallCompleted' ? [data.outcome] : [],
      );
      expect(outcomes).toEqual(['ok', 'ok', 'ok']);
      expect((await session.verify()).problems).toEqual([]);
    }
    expect(where).toEqual(['far', 'far', 'far', 'far']);
    const queues = (await near.stores.workers()).map((worker) => worker.taskQueue);
    expect(queues.toSorted()).toEqual([near.taskQueue, taskQueue].toSorted());
  });

  it('L2: creates indexes and search attributes where they are missing', async () => {
    const namespace = unique('namespace');
    await temporalCli('operator', 'namespace', 'create', '--namespace', namespace);
    const database = unique('fresh');
    const { native, connection } = await connect();
    const plugins = [new ApomeshPlugin(config, { mongo: { uri: mongoUriOf(), database } })];
    const options = { connection: native, namespace, taskQueue: 'apomesh', plugins, workflowBundle: await bundle() };
    const worker = await until('the namespace is known', () => Worker.create(options).catch(() => null));
    const mongo = new MongoClient(mongoUriOf());
    try {
      await worker.runUntil(async () => {
        await until('it runs', () => worker.getState() === 'RUNNING');
        const { customAttributes } = await until('the attributes are there', async () => {
          const listed = await connection.operatorService.listSearchAttributes({ namespace });
          return listed.customAttributes?.['ApomeshAgent'] === undefined ? null : listed;
        });
        expect(Object.keys(customAttributes ?? {})).toEqual(
          expect.arrayContaining(['ApomeshAgent', 'ApomeshPhase', 'ApomeshAwaiting']),
        );
      });
      const indexes = await mongo.db(database).collection('events').indexes();
      expect(indexes).toContainEqual(expect.objectContaining({ key: { session: 1, seq: 1 }, unique: true }));
    } finally {
      await mongo.close();
    }
  });

  it('names a MongoDB or a Temporal that cannot be reached, within 10 seconds', async () => {
    const { connection } = await connect();
    const native = await NativeConnection.connect({ address: addressOf() });
    const plugins = [new ApomeshPlugin(config, { mongo: { uri: `mongodb://${NOWHERE}` } })];
    const worker = await Worker.create({
      connection: native,
      taskQueue: unique('q'),
      plugins,
      workflowBundle: await bundle(),
    });
    const lost = Connection.lazy({ address: NOWHERE });
    const start = { agent: 'goals-loop', goal, id: unique('s') };
    const from = performance.now();
    const refused = await Promise.all([
      worker.run().catch((error: unknown) => error),
      new ApomeshClient({ client: new Client({ connection, plugins }) }).sessions
        .start(start)
        .catch((error: unknown) => error),
      new ApomeshClient({ client: new Client({ connection: lost }), config, stores: memoryStores() }).sessions
        .start(start)
        .catch((error: unknown) => error),
    ]);
    expect(performance.now() - from).toBeLessThan(10_000);
    const named = expect.stringContaining(NOWHERE);
    expect(refused).toMatchObject([
      { code: 'STORE_UNREACHABLE', message: named },
      { code: 'STORE_UNREACHABLE', message: named },
      { code: 'TEMPORAL_UNREACHABLE', message: named },
    ]);
    // A worker that could not start does not hold on to its connection.
    await Promise.all([native.close(), lost.close()]);
  });
});
