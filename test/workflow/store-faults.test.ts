import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { Stores } from '../../src/ports/store.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { mongoUri, uriWith } from '../contract/mongo.ts';
import { type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const modes = ['loop', 'call'] as const;
const appName = unique('faults');
const admin = new MongoClient(mongoUri());
const [, host = '', port = ''] = /\/\/(?:[^@/]*@)?([^:/]+):(\d+)/u.exec(mongoUri()) ?? [];

type FailPoint = { readonly times: number; readonly data: Record<string, unknown> };

/** The next so many writes fail, as a server that has trouble makes them. */
const failing = (data: Record<string, unknown>, times = 2) => failNext({ times, data });

async function failNext({ times, data }: FailPoint): Promise<void> {
  const command = { failCommands: ['bulkWrite'], appName, ...data };
  await admin.db('admin').command({ configureFailPoint: 'failCommand', mode: { times }, data: command });
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What goes wrong with the next write, or the next few. */
const faults: Readonly<Record<string, () => Promise<void> | void>> = {
  'a primary that stepped down': () => failing({ errorCode: 10_107 }),
  'a primary that steps down after the write': () =>
    failing({ writeConcernError: { code: 11_602, errmsg: 'interrupted due to replica set state change' } }),
  'a majority that does not answer in time': () =>
    failing({ writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } }),
  'a connection that closes before the write': () => failing({ closeConnection: true }),
  'a connection that closes after the write': () => proxy.loseNextAnswer(),
  'a primary slower than the time-out': () => failing({ blockConnection: true, blockTimeMS: 1_500 }, 1),
  'a slow primary': () => failing({ blockConnection: true, blockTimeMS: 700 }, 1),
  'a server that is out of reach for a while': async () => {
    proxy.cut();
    void wait(600).then(() => proxy.resume());
  },
};

let proxy: TcpProxy;
let stores: Stores;
let pool: Pool;
let fault: () => Promise<void> | void;
/** Calls of the tool, by session. */
const ran = new Map<string, string[]>();

const save = defineTool({
  name: 'save',
  description: 'Saves.',
  input: z.object({ line: z.string() }),
  run: async ({ line }, { session }) => {
    ran.set(session, [...(ran.get(session) ?? []), line]);
    // The outcome is what is to be written next.
    if (line.startsWith('outcome')) await fault();
    return `${line} is saved`;
  },
});

/** A fault before what the model said and its intents are written, too. */
const goals = goalModel({ before: async (node) => (node % 2 === 1 ? fault() : undefined) });

beforeAll(async () => {
  proxy = await startTcpProxy(host, Number(port), (data) => data.includes('nInserted'));
  const uri = uriWith(
    `appName=${appName}`,
    `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&socketTimeoutMS=1000`,
  );
  stores = mongoStores({ uri, database: unique('faults') });
  const agents = modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['save'], dispatch }),
  );
  pool = await startPool({ models: { goals: goals.model }, tools: [save], agents }, { stores });
});
afterEach(() => admin.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' }));
afterAll(async () => {
  await pool.stop();
  await stores.close();
  await proxy.close();
  await admin.close();
});

/** Runs a session through the fault, before and after an effect, and expects it to be whole. */
async function runThrough(mode: (typeof modes)[number]): Promise<void> {
  const lines = ['outcome 1', 'intent 2', 'outcome 3', 'intent 4'];
  const goal = goalOf(...lines.map((line) => calls(['save', { line }])), { text: 'saved' });
  const session = await pool.start(mode, goal);
  expect(await session.output()).toBe('saved');
  expect(ran.get(session.id)).toEqual(lines);
  const { problems, effects } = await session.verify();
  expect(problems).toEqual([]);
  expect(effects).toEqual({ intents: 4, outcomes: 4, duplicates: 0, open: 0 });
  const events = await session.events();
  const nodes = events.flatMap(({ type, data }) => (type === 'GenerationCompleted' ? [data.node] : []));
  expect(nodes).toEqual([1, 2, 3, 4, 5]);
  expect(goals.prompts(goal)).toHaveLength(5);
}

describe('a store in trouble', () => {
  it.each(Object.keys(faults))(
    'L6, E3: %s: what was written is settled by reading back, and nothing is done or logged twice',
    async (name) => {
      fault = faults[name] as () => Promise<void>;
      await Promise.all(modes.map(runThrough));
    },
    60_000,
  );
});
