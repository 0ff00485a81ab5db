import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { listSessions } from '../../src/client/list.ts';
import { verifySession } from '../../src/client/verify.ts';
import type { Stores } from '../../src/ports/store.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { until } from '../support/until.ts';
import { mongoUri, newDatabase, uriWith } from './mongo.ts';
import { ended, event, generation, newSession, started, time } from './stores.rows.ts';

const appName = newDatabase();
const admin = new MongoClient(mongoUri());
let db: Db;
let stores: Stores;

beforeAll(async () => {
  const database = newDatabase();
  db = admin.db(database);
  stores = mongoStores({ uri: uriWith(`appName=${appName}`), database });
  await stores.prepare();
  for (let n = 0; n < 4; n++) await stores.write(n % 2 ? ended(newSession()).slice(0, 3) : recorded(newSession()));
  const damaged = newSession();
  await stores.write([event(started(damaged)), event(generation(damaged, 2))]);
});
afterEach(() => admin.db('admin').command({ configureFailPoint: 'failCommand', mode: 'off' }));
afterAll(async () => {
  await stores.close();
  await admin.close();
});

/** A session that is over, and its record. */
const recorded = (session: string) => [
  ...ended(session),
  { into: 'completed', session, phase: 'failed', reason: 'diverged', lastSeq: 3, at: time(3) } as const,
];

const lists = async (from: Stores = stores) => ({
  sessions: await listSessions(from, {}),
  unfinished: await from.unfinished({ limit: 100 }),
});

/** What is wrong with a session that was begun with no bodies and no pin. */
async function found(session: string): Promise<string[]> {
  const { problems } = await verifySession(stores, session);
  return problems.map(({ code }) => code).filter((code) => code !== 'BODY_MISSING' && code !== 'PIN_CORRUPT');
}

const drop = (...names: string[]) => Promise.all(names.map((name) => db.collection(name).drop()));

describe('stores: indexes in mongo', () => {
  it('F6: the list of sessions is the same before and after both indexes are dropped, and they are derived again', async () => {
    const before = await lists();
    const entries = await db
      .collection('sessions')
      .find({ session: { $exists: true } })
      .sort({ _id: 1 })
      .toArray();
    const records = await db.collection('completed').find().sort({ _id: 1 }).toArray();
    await drop('sessions', 'completed');
    expect((await lists()).sessions).toEqual(before.sessions);
    expect(await stores.rebuildIndexes()).toEqual({ sessions: 5, completed: 2, unreadable: 1 });
    expect(await lists()).toEqual(before);
    expect(
      await db
        .collection('sessions')
        .find({ session: { $exists: true } })
        .sort({ _id: 1 })
        .toArray(),
    ).toEqual(entries);
    expect(await db.collection('completed').find().sort({ _id: 1 }).toArray()).toEqual(records);
  });

  it('F6: an index of sessions that is dropped while others start sessions hides none', async () => {
    const before = await lists();
    await drop('sessions');
    const session = newSession();
    await stores.write([event(started(session, time(59)))]);
    const after = await lists();
    expect(after.sessions.map((each) => each.session)).toEqual([
      session,
      ...before.sessions.map((each) => each.session),
    ]);
    expect(after.unfinished).toEqual([...before.unfinished, session].sort());
    expect(await db.collection('sessions').indexes()).toHaveLength(3);
  });

  it('F6: a scan comes first after the drop, and misses none', async () => {
    const { unfinished } = await lists();
    await drop('sessions');
    expect(await stores.unfinished({ limit: 100 })).toEqual(unfinished);
  });

  it('F6: any number of processes make the index at once', async () => {
    const before = await lists();
    await drop('sessions');
    const several = Array.from({ length: 4 }, () => mongoStores({ uri: mongoUri(), database: db.databaseName }));
    await Promise.all(several.map((each) => each.prepare()));
    for (const each of several) expect(await lists(each)).toEqual(before);
    for (const each of several) await each.close();
  });

  it('F6: an index that is dropped while it is made is made again', async () => {
    const before = await lists();
    await drop('sessions');
    const data = { failCommands: ['update'], appName, blockConnection: true, blockTimeMS: 800 };
    // Its first word on who is at it, and its last, that the index is whole.
    await admin.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 2 }, data });
    const listing = lists();
    const entered = () => db.collection('sessions').countDocuments({ session: { $exists: true } });
    await until('all are entered', async () => (await entered()) === before.sessions.length);
    await drop('sessions');
    expect(await listing).toEqual(before);
  });

  it('F6: a rebuild that breaks off leaves the index to the next who needs it', async () => {
    const before = await lists();
    await drop('sessions');
    const data = { failCommands: ['aggregate'], appName, errorCode: 91 };
    await admin.db('admin').command({ configureFailPoint: 'failCommand', mode: { times: 2 }, data });
    await expect(stores.prepare()).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    expect(await lists()).toEqual(before);
  });

  it('F6: what was altered of both is put right by hand', async () => {
    const before = await lists();
    const [first] = before.sessions.filter(({ endedAt }) => endedAt !== null);
    const session = first?.session ?? '';
    for (const change of [{ event: 'other' }, { session: 'other' }, { at: time(50) }]) {
      await db.collection('sessions').updateOne({ session }, { $set: change });
      await db.collection<{ _id: string }>('completed').updateOne({ _id: session }, { $unset: { reason: '' } });
      expect(await found(session)).toEqual(['INDEX_INCONSISTENT', 'INDEX_INCONSISTENT']);
      await stores.rebuildIndexes();
      expect(await found(session)).toEqual([]);
    }
    expect(await lists()).toEqual(before);
  });

  it('F6: a record that was dropped is written again by a process that wrote it before', async () => {
    const session = newSession();
    await stores.write(recorded(session));
    await drop('completed');
    await stores.write(recorded(session).slice(-1));
    expect(await stores.unfinished({ limit: 100 })).not.toContain(session);
  });
});
