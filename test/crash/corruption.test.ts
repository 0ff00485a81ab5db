import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, MongoClient, MongoServerError } from 'mongodb';
import { Temporal } from '../../src/client/temporal.ts';
import { type Problem, verifySession, type Witness } from '../../src/client/verify.ts';
import { witnessOf } from '../../src/client/witness.ts';
import type { Stores } from '../../src/ports/store.ts';
import { mongoUriOf, openMongo, unique } from '../support/pool.ts';
import { Random } from '../support/random.ts';
import { until } from '../support/until.ts';
import { type Corruptible, rowsOf, runCorruptible, targetsOf } from './corruptible.ts';
import { type Damage, type Doc, drawDamage } from './damage.ts';

const RUNS = 500;
const given = process.env['CORRUPTION_SEED'];
const [givenSeed, givenRun] = given?.split(':') ?? [];
/** The fixed seed and a fresh one, unless one is given. */
const seeds = givenSeed === undefined ? ['1', randomUUID().slice(0, 8)] : [givenSeed];
const runs = givenRun === undefined ? Array.from({ length: RUNS }, (_, n) => n) : [Number(givenRun)];

/** Sessions that are damaged side by side, each with those its rows are swapped with. */
const LANES = 3;

/** What a problem with a row of each table is called. */
const codes: Readonly<Record<string, readonly Problem['code'][]>> = {
  events: ['LOG_UNREADABLE'],
  messages: ['BODY_MISSING'],
  bodies: ['BODY_MISSING'],
  snapshots: ['BODY_MISSING'],
  pins: ['PIN_CORRUPT'],
  files: ['PIN_CORRUPT'],
  dispatches: ['ROW_ALTERED'],
  effects: ['ROW_ALTERED'],
  recoverable: ['ROW_ALTERED'],
  sessions: ['INDEX_INCONSISTENT'],
  completed: ['INDEX_INCONSISTENT', 'LOG_UNREADABLE'],
};

const folder = mkdtempSync(join(tmpdir(), 'apomesh-skills-'));
const client = new MongoClient(mongoUriOf());
const database = unique('corruption');
const db: Db = client.db(database);
const stores: Stores = openMongo(database);
const lanes: Corruptible[][] = Array.from({ length: LANES }, () => []);
const witnesses = new Map<string, Witness>();

beforeAll(async () => {
  const { pool, handles } = await runCorruptible(stores, folder, LANES);
  for (const [n, [session, state]] of [...handles].entries()) {
    lanes[n % LANES]?.push(await rowsOf(db, stores, { id: session.id, state }));
    const witness = await until('Temporal says how far it is', async () => {
      const said = await witnessOf(new Temporal(pool.client), session.id);
      return (said.isOver || said.lastSeq !== null) && said;
    });
    expect(witness.isOver).toBe(state === 'over');
    witnesses.set(session.id, witness);
  }
  await pool.stop();
}, 120_000);
afterAll(async () => {
  await client.close();
  await rm(folder, { recursive: true, force: true });
});

const verify = (session: string) => verifySession(stores, session, witnesses.get(session));

/** Puts rows in place of others. False where the database's own unique indexes do not let them be. */
async function put({ table, before, after }: Pick<Damage, 'table' | 'before' | 'after'>): Promise<boolean> {
  const rows = db.collection<Doc>(table);
  try {
    await rows.bulkWrite([
      ...before.map(({ _id }) => ({ deleteOne: { filter: { _id } } })),
      ...after.map((document) => ({ insertOne: { document } })),
    ]);
    return true;
  } catch (error) {
    if (!(error instanceof MongoServerError) || error.code !== 11_000) throw error;
    await rows.deleteMany({ _id: { $in: [...before, ...after].map(({ _id }) => _id) } });
    await rows.insertMany([...before]);
    return false;
  }
}

/** Damages a session as a seed says. */
async function damaged(random: Random, session: Corruptible, lane: readonly Corruptible[]): Promise<Damage> {
  const targets = targetsOf(session, lane);
  for (;;) {
    const damage = drawDamage(random, random.one(targets.get(random.one([...targets.keys()])) ?? []));
    if (damage !== null && (await put(damage))) return damage;
  }
}

/** What of a damage verify did not find; null where it did. */
async function missed(
  seed: string,
  run: number,
  session: Corruptible,
  lane: readonly Corruptible[],
): Promise<string | null> {
  const { table, what, before, after } = await damaged(new Random(`${seed}:${run}`), session, lane);
  const { problems } = await verify(session.id);
  await put({ table, before: after, after: before });
  if (problems.some(({ code }) => codes[table]?.includes(code))) return null;
  return `CORRUPTION_SEED=${seed}:${run}: ${what} in ${session.id} (${session.state}), found: ${JSON.stringify(problems)}`;
}

describe('corruption', () => {
  it('finds nothing before', async () => {
    for (const session of lanes.flat()) {
      expect(await verify(session.id)).toMatchObject({ ok: true, problems: [] });
      const tables = [...session.rows].filter(([, docs]) => docs.length > 0).map(([table]) => table);
      expect(tables).toEqual(
        Object.keys(codes)
          .filter((table) => table !== 'completed' || session.state === 'over')
          .sort((a, b) => tables.indexOf(a) - tables.indexOf(b)),
      );
    }
  });

  it.each(seeds)(
    'L4, L8, P4: every random flip, cut, swap and deletion of a stored row is found (CORRUPTION_SEED=%s)',
    async (seed) => {
      const misses = await Promise.all(
        lanes.map(async (lane, number) => {
          const found: (string | null)[] = [];
          for (const run of runs.filter((run) => run % LANES === number)) {
            const session = lane[Math.floor(run / LANES) % lane.length];
            if (session) found.push(await missed(seed, run, session, lane));
          }
          return found;
        }),
      );
      expect(misses.flat().filter((miss) => miss !== null)).toEqual([]);
      expect(misses.flat()).toHaveLength(runs.length);
    },
    300_000,
  );

  it('L8: a log without its last event is found, of a session that goes on too', async () => {
    for (const session of lanes.flat()) {
      const events = session.rows.get('events') ?? [];
      const last = events.toSorted((a, b) => Number(a['seq']) - Number(b['seq'])).slice(-1);
      await put({ table: 'events', before: last, after: [] });
      const { problems } = await verify(session.id);
      expect(problems).toMatchObject([{ seq: events.length - 1, code: 'LOG_UNREADABLE' }]);
      await put({ table: 'events', before: [], after: last });
    }
  });

  it('finds nothing once all is restored', async () => {
    for (const session of lanes.flat()) expect(await verify(session.id)).toMatchObject({ ok: true, problems: [] });
  });
});
