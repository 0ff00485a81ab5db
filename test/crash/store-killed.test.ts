import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { Row, Stores } from '../../src/ports/store.ts';
import { type MongoService, startMongo } from '../../src/services/mongo.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const folder = mkdtempSync(join(tmpdir(), 'apomesh-store-'));
const binDir = join(import.meta.dirname, '..', '..', '.apomesh');

const STEPS = 12;
const SESSIONS = 4;
const KILLS = 3;
const STEP_MS = 300;

let mongo: MongoService;
let stores: Stores;
let pool: Pool;
/** Lines that were saved, in order, by session. */
const saved = new Map<string, string[]>();
/** Ids of the events that were acknowledged, by session. */
const acknowledged = new Map<string, Set<string>>();

const start = (port?: number): Promise<MongoService> =>
  startMongo({ dataDir: folder, binDir, say: () => {}, ...(port !== undefined && { port }) });

/** The stores, with what they acknowledge kept apart. */
function watched(inner: Stores): Stores {
  const write = async (rows: readonly Row[]): Promise<number> => {
    const written = await inner.write(rows);
    for (const row of rows.slice(0, written)) {
      if (row.into !== 'events') continue;
      const { session, id } = row.envelope;
      acknowledged.set(session, (acknowledged.get(session) ?? new Set()).add(id));
    }
    return written;
  };
  return { ...inner, write };
}

const save = defineTool({
  name: 'save',
  description: 'Saves.',
  input: z.object({ line: z.string() }),
  run: async ({ line }, { session }) => {
    saved.set(session, [...(saved.get(session) ?? []), line]);
    await sleep(STEP_MS);
    return `${line} is saved`;
  },
});

beforeAll(async () => {
  mongo = await start();
  stores = mongoStores({ uri: mongo.uri, database: unique('killed'), serverSelectionTimeoutMS: 1_000 });
  const agents = modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['save'], dispatch }),
  );
  pool = await startPool({ models: { goals: goalModel().model }, tools: [save], agents }, { stores: watched(stores) });
}, 120_000);
afterAll(async () => {
  await pool.stop();
  await stores.close();
  await mongo.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Kills the store's process, and starts it again at the same place. */
async function killStore(): Promise<void> {
  const port = Number(new URL(mongo.uri.replace('mongodb:', 'http:')).port);
  process.kill(mongo.pid as number, 'SIGKILL');
  await sleep(500);
  mongo = await start(port);
}

describe('a store that is killed', () => {
  it('L5, L6: loses nothing that it acknowledged, and its sessions go on once it is back', async () => {
    const lines = Array.from({ length: STEPS }, (_, n) => `line ${n}`);
    const goal = () => goalOf(...lines.map((line) => calls(['save', { line }])), { text: 'saved' });
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, (_, n) => pool.start(modes[n % 2] ?? 'loop', goal())),
    );
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(STEP_MS * 2);
      await killStore();
    }
    for (const session of sessions) {
      expect(await session.output()).toBe('saved');
      expect(saved.get(session.id)).toEqual(lines);
      const { problems, effects } = await session.verify();
      expect(problems).toEqual([]);
      expect(effects).toEqual({ intents: STEPS, outcomes: STEPS, duplicates: 0, open: 0 });
      const logged = new Set((await session.events()).map(({ id }) => id));
      expect([...(acknowledged.get(session.id) ?? [])].filter((id) => !logged.has(id))).toEqual([]);
    }
  }, 170_000);
});
