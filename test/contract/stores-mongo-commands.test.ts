import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BSON, type CommandStartedEvent, MongoClient } from 'mongodb';
import type { Stores } from '../../src/ports/store.ts';
import { openMongo } from '../../src/stores/mongo/connect.ts';
import { mongoStores, storesOver } from '../../src/stores/mongo/stores.ts';
import { mongoUri, newDatabase, uriWith } from './mongo.ts';
import { body, claim, event, evidence, generation, log, newSession } from './stores.rows.ts';

const database = newDatabase();
const admin = new MongoClient(mongoUri());
const commands: CommandStartedEvent[] = [];
let stores: Stores;

beforeAll(async () => {
  const mongo = openMongo({ uri: uriWith('monitorCommands=true'), database });
  mongo.client.on('commandStarted', (command) => commands.push(command));
  stores = storesOver(mongo);
  await stores.prepare();
});
afterAll(async () => {
  await stores.close();
  await admin.close();
});

/** The commands that something sends, by name, with what they say. */
async function commandsOf(work: () => Promise<unknown>): Promise<{ name: string; command: Record<string, unknown> }[]> {
  commands.length = 0;
  await work();
  return commands.map(({ commandName, command }) => ({ name: commandName, command }));
}

describe('stores: what goes to mongo', () => {
  it('L5, L6: a write is one ordered bulk, acknowledged by a majority and journaled', async () => {
    const session = newSession();
    const rows = [
      body(session, 1),
      body(session, 2, 'bodies'),
      claim(session),
      ...log(session, 4),
      evidence(session, 'e'),
    ];
    const sent = await commandsOf(() => stores.write(rows));
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({
      name: 'bulkWrite',
      command: { ordered: true, writeConcern: { w: 'majority', j: true } },
    });
    expect(sent[0]?.command).not.toHaveProperty('txnNumber');
    expect(sent[0]?.command['ops']).toHaveLength(rows.length + 1);
  });

  it('L5: reads ask the primary at majority', async () => {
    const session = newSession();
    const row = body(session, 1);
    await stores.write([row, ...log(session, 2)]);
    const sent = await commandsOf(async () => {
      await stores.read(session);
      await stores.load(session, 'messages', [row.ref]);
      await stores.sessions();
      await stores.evidence(session);
      await stores.claims(session, 'a');
    });
    expect(sent.map(({ name }) => name)).toEqual(Array(8).fill('find'));
    // The driver's word for "whatever this one node is", over a direct connection.
    const modes = [undefined, 'primary', ...(mongoUri().includes('directConnection=true') ? ['primaryPreferred'] : [])];
    for (const { command } of sent) {
      expect(command).toMatchObject({ readConcern: { level: 'majority' } });
      expect(modes).toContain((command['$readPreference'] as { mode: string } | undefined)?.mode);
    }
  });

  it('L5: what the URI says of durability is overruled', async () => {
    const mongo = openMongo({
      uri: uriWith('monitorCommands=true&w=1&journal=false&readConcernLevel=local&readPreference=secondary'),
      database,
    });
    mongo.client.on('commandStarted', (command) => commands.push(command));
    const over = storesOver(mongo);
    const session = newSession();
    const [write, read, beat] = await commandsOf(async () => {
      await over.write(log(session, 1));
      await over.read(session);
      await over.beat('w', 'q');
    });
    await over.close();
    expect(write?.command['writeConcern']).toEqual({ w: 'majority', j: true });
    expect(beat?.command['writeConcern']).toEqual({ w: 'majority', j: true });
    expect(read?.command['readConcern']).toEqual({ level: 'majority' });
  });

  it('L7: a body that was lately written is not sent again; the events are', async () => {
    const session = newSession();
    const row = body(session, 'the same');
    await stores.write([row, ...log(session, 1)]);
    const [sent] = await commandsOf(() => stores.write([row, event(generation(session, 1))]));
    expect(sent?.command['ops']).toHaveLength(1);
    expect(await commandsOf(() => stores.write([row, row]))).toEqual([]);
  });

  it('L6: no command is over 16 MiB, with the longest names and the largest bodies that there may be', async () => {
    const session = `${newSession()}${'\u{1F600}'.repeat(160)}`;
    const large = body(session, 'x'.repeat(15 * 1024 * 1024));
    const rows = [...log(session, 1_700), body(session, 'y'.repeat(10 * 1024 * 1024)), large, claim(session)];
    const sent = await commandsOf(() => stores.write(rows));
    const sizes = sent.map(({ command }) => BSON.calculateObjectSize(command));
    expect(Math.max(...sizes)).toBeLessThan(16 * 1024 * 1024);
    expect(await stores.read(session, 1_699)).toHaveLength(1);
    expect(await stores.load(session, 'messages', [large.ref])).toEqual([large.json]);
  });

  it('L6: bodies that another process wrote cost one more command, however many', async () => {
    const session = newSession();
    const rows = Array.from({ length: 6 }, (_, n) => body(session, n));
    const other = mongoStores({ uri: mongoUri(), database });
    await other.write(rows);
    await other.close();
    const sent = await commandsOf(() => stores.write([...rows, ...log(session, 1)]));
    expect(sent.map(({ name }) => name)).toEqual(['bulkWrite', 'bulkWrite']);
    expect(await stores.read(session)).toHaveLength(1);
  });

  it('reads with one command, however far', async () => {
    const session = newSession();
    await stores.write(log(session, 150));
    expect(await commandsOf(() => stores.read(session))).toHaveLength(1);
    expect(await commandsOf(() => stores.read(session, 148))).toHaveLength(1);
    expect(await commandsOf(() => stores.read(session, 10, 5))).toHaveLength(1);
  });

  it('prepares in any number of processes at once, and again', async () => {
    const name = newDatabase();
    const several = Array.from({ length: 4 }, () => mongoStores({ uri: mongoUri(), database: name }));
    await Promise.all(several.map((each) => each.prepare()));
    await several[0]?.prepare();
    for (const each of several) await each.close();
    const there = await admin.db(name).listCollections().toArray();
    expect(there.map((each) => each.name).sort()).toEqual([
      'bodies',
      'completed',
      'dispatches',
      'effects',
      'events',
      'files',
      'messages',
      'pins',
      'published',
      'recoverable',
      'sessions',
      'skills',
      'snapshots',
      'workers',
    ]);
    const indexes = await admin.db(name).collection('events').indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { session: 1, seq: 1 }, unique: true }));
  });
});

describe('stores: reaching mongo', () => {
  it('an address where nothing listens is named within 10 seconds, without credentials', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    const lost = mongoStores({ uri: `mongodb://me:secret@127.0.0.1:${port}/` });
    expect(lost.address).toBe(`mongodb://127.0.0.1:${port}/apomesh`);
    const from = Date.now();
    const error = { code: 'STORE_UNREACHABLE', fields: { address: lost.address } };
    const works = [lost.prepare(), lost.read('s'), lost.write(log(newSession(), 1)), lost.beat('w', 'q')];
    for (const work of await Promise.allSettled(works)) {
      expect(work).toMatchObject({ status: 'rejected', reason: error });
      expect(String((work as PromiseRejectedResult).reason)).not.toMatch(/secret/u);
    }
    expect(Date.now() - from).toBeLessThan(10_000);
    await lost.close();
  });

  it('a server that says nothing is named within 10 seconds', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const lost = mongoStores({ uri: `mongodb://127.0.0.1:${port}/`, serverSelectionTimeoutMS: 1_000 });
    const from = Date.now();
    await expect(lost.write(log(newSession(), 1))).rejects.toMatchObject({ code: 'STORE_UNREACHABLE' });
    expect(Date.now() - from).toBeLessThan(5_000);
    await lost.close();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('what is no MongoDB URI is a mistake in the configuration', () => {
    for (const uri of ['localhost:27017', 'mongodb://', 'http://localhost', 'mongodb://h/?socketTimeoutMS=soon']) {
      expect(() => mongoStores({ uri })).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
    }
  });

  it('does not repeat a password, even of a URI that cannot be read', () => {
    for (const uri of ['mongodb://me:secret@', 'mongodb://me:sec/ret@h:x/', 'mongodb://me:secret@h:99999999/']) {
      expect(() => mongoStores({ uri })).toThrow(
        expect.objectContaining({ message: expect.not.stringMatching(/sec|ret/u) }),
      );
    }
  });

  it('says all the hosts it looks at, and the database', async () => {
    const several = mongoStores({ uri: 'mongodb://u:p@a:1,b:2/?replicaSet=r', database: 'other' });
    expect(several.address).toBe('mongodb://a:1,b:2/other');
    await several.close();
  });
});
