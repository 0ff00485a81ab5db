import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { StoreUnknownError } from '../../src/contract/errors.ts';
import type { Row, Stores } from '../../src/ports/store.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { mongoUri, newDatabase, uriWith } from './mongo.ts';
import { body, claim, event, generation, log, newSession } from './stores.rows.ts';

const database = newDatabase();
const admin = new MongoClient(mongoUri());
const appName = database;
const [, host = '', port = ''] = /\/\/(?:[^@/]*@)?([^:/]+):(\d+)/u.exec(mongoUri()) ?? [];

let stores: Stores;
let proxy: TcpProxy;
let behindProxy: Stores;

beforeAll(async () => {
  stores = mongoStores({ uri: uriWith(`appName=${appName}`), database });
  await stores.prepare();
  proxy = await startTcpProxy(host, Number(port), (data) => data.includes('nInserted'));
  const uri = `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&socketTimeoutMS=1000`;
  behindProxy = mongoStores({ uri, database });
});
afterEach(() => fail('off'));
afterAll(async () => {
  await stores.close();
  await behindProxy.close();
  await proxy.close();
  await admin.close();
});

/** Makes commands of these stores fail. */
async function fail(mode: 'off' | { times: number }, data: Record<string, unknown> = {}, failCommands = ['bulkWrite']) {
  await admin
    .db('admin')
    .command({ configureFailPoint: 'failCommand', mode, data: { failCommands, appName, ...data } });
}

const once = { times: 1 };

/** After an unknown result: the same rows again, until it is known. Whatever was there is not there twice. */
async function settles(session: string, rows: readonly Row[], by: Stores = stores): Promise<void> {
  expect(await by.write(rows)).toBe(rows.length);
  const events = await by.read(session);
  expect(events).toEqual(rows.flatMap((row) => (row.into === 'events' ? [row.envelope] : [])));
}

const rowsOf = (session: string): Row[] => [body(session, 'a'), claim(session), ...log(session, 3), body(session, 'b')];

describe('stores: unknown results in mongo', () => {
  const codes = {
    NotWritablePrimary: 10107,
    InterruptedAtShutdown: 11600,
    InterruptedDueToReplStateChange: 11602,
    ShutdownInProgress: 91,
    PrimarySteppedDown: 189,
  };
  for (const [name, errorCode] of Object.entries(codes)) {
    it(`L6: ${name} leaves the result unknown, and the same rows again settle it`, async () => {
      const session = newSession();
      await fail(once, { errorCode });
      const failed = stores.write(rowsOf(session));
      await expect(failed).rejects.toBeInstanceOf(StoreUnknownError);
      await expect(failed).rejects.toMatchObject({ cause: expect.any(Error) });
      await settles(session, rowsOf(session));
    });
  }

  it('L6: a connection that closes leaves the result unknown', async () => {
    const session = newSession();
    await fail(once, { closeConnection: true });
    await expect(stores.write(rowsOf(session))).rejects.toBeInstanceOf(StoreUnknownError);
    await settles(session, rowsOf(session));
  });

  it('L5, L6: a write-concern error leaves the result unknown, although the rows are there', async () => {
    const session = newSession();
    const writeConcernError = { code: 64, errmsg: 'waiting for replication timed out' };
    await fail(once, { writeConcernError });
    await expect(stores.write(rowsOf(session))).rejects.toBeInstanceOf(StoreUnknownError);
    expect(await stores.read(session)).toHaveLength(3);
    await settles(session, rowsOf(session));
  });

  it('L5, L6: a write-concern error together with a place that is taken is unknown too', async () => {
    const session = newSession();
    await stores.write(log(session, 2));
    await fail(once, { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } });
    const rows = [event(generation(session, 1, { id: 'other' })), event(generation(session, 2))];
    await expect(stores.write(rows)).rejects.toBeInstanceOf(StoreUnknownError);
    expect(await stores.write(rows)).toBe(0);
    expect(await stores.read(session)).toHaveLength(2);
  });

  it('L6: nothing after a place that is taken is written, though the rows fill several commands and the first is unknown', async () => {
    const session = newSession();
    await stores.write(log(session, 2));
    const bodies = Array.from({ length: 7 }, (_, n) => body(session, `${n}${'x'.repeat(7 * 1024 * 1024)}`));
    const last = body(session, 'last');
    await fail(once, { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } });
    const rows = [event(generation(session, 1, { id: 'other' })), ...bodies, last];
    await expect(stores.write(rows)).rejects.toBeInstanceOf(StoreUnknownError);
    await expect(stores.load(session, 'messages', [last.ref])).rejects.toMatchObject({ code: 'BODY_MISSING' });
  });

  it('L6: an answer that is lost leaves the result unknown; all of it is there, once', async () => {
    const session = newSession();
    await behindProxy.write(log(newSession(), 1));
    proxy.loseNextAnswer();
    await expect(behindProxy.write(rowsOf(session))).rejects.toBeInstanceOf(StoreUnknownError);
    expect(await stores.read(session)).toHaveLength(3);
    await settles(session, rowsOf(session), behindProxy);
    expect(await stores.claims(session, `${session}/root-1`)).toEqual([claim(session)]);
  });

  it('L6: silence leaves the result unknown', async () => {
    const session = newSession();
    await behindProxy.write(log(newSession(), 1));
    proxy.stall();
    try {
      await expect(behindProxy.write(rowsOf(session))).rejects.toBeInstanceOf(StoreUnknownError);
    } finally {
      proxy.resume();
    }
    await settles(session, rowsOf(session), behindProxy);
  });

  it('L6: every prefix may be there: the rest is written after it, nothing twice', async () => {
    const rows = rowsOf(newSession());
    for (let there = 0; there <= rows.length; there++) {
      const session = newSession();
      const mine = rowsOf(session);
      const earlier = mongoStores({ uri: mongoUri(), database });
      await earlier.write(mine.slice(0, there));
      await earlier.close();
      await settles(session, mine);
    }
  });

  it('L6: when looking at what is in the way fails, the result is unknown', async () => {
    const session = newSession();
    await stores.write(log(session, 2));
    await fail({ times: 4 }, { closeConnection: true }, ['find']);
    await expect(stores.write([event(generation(session, 1))])).rejects.toBeInstanceOf(StoreUnknownError);
    await fail('off');
    await settles(session, log(session, 2));
  });

  it('L5: what may be written again, and was not by a majority, is for later', async () => {
    const entry = { session: newSession(), class: 'closed', why: 'It was terminated.', at: new Date(0).toISOString() };
    await fail(once, { writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' } }, ['update']);
    await expect(stores.list(entry)).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    await stores.list(entry);
    expect(await stores.listed(entry.session)).toEqual(entry);
  });

  it('a read over a connection that closes is made again', async () => {
    const session = newSession();
    await stores.write(log(session, 2));
    await fail(once, { closeConnection: true }, ['find']);
    expect(await stores.read(session)).toHaveLength(2);
  });

  it('a read that keeps failing says where MongoDB does not answer', async () => {
    await fail({ times: 6 }, { closeConnection: true }, ['find']);
    await expect(stores.read(newSession())).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      fields: { address: stores.address },
    });
  });

  it('a refusal is a matter of configuration, not an unknown result', async () => {
    await fail(once, { errorCode: 13 });
    await expect(stores.write(rowsOf(newSession()))).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    await fail(once, { errorCode: 13 }, ['find']);
    await expect(stores.read(newSession())).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
