import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { bodyOf } from '../../src/session/digest.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { mongoUri, newDatabase } from './mongo.ts';
import { body, event, generation, log, newSession, pinned, started, time } from './stores.rows.ts';

const database = newDatabase();
const client = new MongoClient(mongoUri());
const db: Db = client.db(database);
const raw = db.collection<{ _id: string }>('events');
const stores = mongoStores({ uri: mongoUri(), database });

beforeAll(() => stores.prepare());
afterAll(async () => {
  await stores.close();
  await client.close();
});

const AT = 2;

/** A log of five events; what becomes of the one at seq 2 is the test's. */
async function damaged(damage: (id: string, session: string) => Promise<unknown>): Promise<string> {
  const session = newSession();
  await stores.write(log(session, 5));
  await damage(`${session}/${generation(session, AT).id}`, session);
  return session;
}

const rowAt = async (_id: string) => (await raw.findOne({ _id })) as unknown as { data: string; sum: string };

const set = (fields: Record<string, unknown>) => (_id: string) => raw.updateOne({ _id }, { $set: fields });

const damages: Record<string, (id: string, session: string) => Promise<unknown>> = {
  'a flipped byte of data': async (_id) => {
    const row = await rowAt(_id);
    return set({ data: row.data.replace('"stop"', '"stpo"') })(_id);
  },
  'data that is cut short': async (_id) => {
    const row = await rowAt(_id);
    return set({ data: row.data.slice(0, -1) })(_id);
  },
  'data in another notation': async (_id) => {
    const row = await rowAt(_id);
    return set({ data: ` ${row.data}` })(_id);
  },
  'no data': (_id) => raw.updateOne({ _id }, { $unset: { data: '' } }),
  'data as a tree': set({ data: { node: 2 } }),
  'another checksum': set({ sum: '0'.repeat(64) }),
  'no checksum': (_id) => raw.updateOne({ _id }, { $unset: { sum: '' } }),
  'another id': set({ id: 'other' }),
  'another time': set({ at: time(9) }),
  'a time as a date': set({ at: new Date() }),
  'another type': set({ type: 'AgentResumed' }),
  'an unknown type': set({ type: 'Surprise' }),
  'another agent': set({ agent: 's/other-1' }),
  'no agent': set({ agent: null }),
  'another writer': set({ writer: { resume: 0, epoch: 1 } }),
  'a writer of text': set({ writer: 'w' }),
  'no writer': (_id) => raw.updateOne({ _id }, { $unset: { writer: '' } }),
  'an unknown version': set({ v: 2 }),
  'a version of text': set({ v: '1' }),
  'another session': (_id) => raw.updateOne({ _id }, { $set: { session: newSession() } }),
  'a seq of text': set({ seq: '2' }),
  'another seq': set({ seq: 7 }),
  'the row deleted': (_id) => raw.deleteOne({ _id }),
  'another key': async (_id) => {
    const row = await raw.findOne({ _id });
    await raw.deleteOne({ _id });
    return raw.insertOne({ ...row, _id: `${_id}x` });
  },
};

describe('stores: damage in mongo', () => {
  for (const [what, damage] of Object.entries(damages)) {
    it(`L8: ${what} is unreadable at its seq`, async () => {
      const session = await damaged(damage);
      const error = { code: 'LOG_UNREADABLE', fields: { session, seq: AT, cause: expect.any(String) } };
      await expect(stores.read(session)).rejects.toMatchObject(error);
      await expect(stores.read(session, AT, 1)).rejects.toMatchObject(error);
      expect(await stores.read(session, 0, AT)).toHaveLength(AT);
    });
  }

  it('L8: names what is wrong', async () => {
    const version = await damaged(set({ v: 2 }));
    await expect(stores.read(version)).rejects.toThrow(/unknown version 2/u);
    const altered = await damaged(set({ agent: 's/other-1' }));
    await expect(stores.read(altered)).rejects.toThrow(/altered/u);
    const gone = await damaged((_id) => raw.deleteOne({ _id }));
    await expect(stores.read(gone)).rejects.toThrow(/missing/u);
  });

  it('L8: two rows with their contents swapped are unreadable at the first', async () => {
    const session = await damaged(async (_id, name) => {
      const other = `${name}/${generation(name, 3).id}`;
      const two = await rowAt(_id);
      const three = await rowAt(other);
      await set({ data: three.data, sum: three.sum })(_id);
      await set({ data: two.data, sum: two.sum })(other);
    });
    await expect(stores.read(session)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields: { seq: AT } });
  });

  it('L8: two rows with their places swapped are unreadable at the first', async () => {
    const session = await damaged(async (_id, name) => {
      await set({ seq: 90 })(_id);
      await set({ seq: 2 })(`${name}/${generation(name, 3).id}`);
      await set({ seq: 3 })(_id);
    });
    await expect(stores.read(session)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields: { seq: AT } });
  });

  it("L8: another session's row in the place is unreadable", async () => {
    const session = await damaged(async (_id, name) => {
      const other = newSession();
      await stores.write(log(other, 5));
      const row = await raw.findOne({ _id: `${other}/${generation(other, AT).id}` });
      await raw.deleteOne({ _id });
      await raw.insertOne({ ...row, _id, session: name } as { _id: string });
    });
    await expect(stores.read(session)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields: { seq: AT } });
  });

  it('L8: data of an event that its type does not have is unreadable', async () => {
    const session = newSession();
    const wrong = generation(session, 1, { data: { node: -1 } as never });
    expect(await stores.write([event(started(session)), event(wrong)])).toBe(2);
    await expect(stores.read(session)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields: { seq: 1 } });
  });

  it('L8: a log that lost its first event is listed still, and unreadable', async () => {
    const session = newSession();
    await stores.write(log(session, 2));
    await raw.deleteOne({ _id: `${session}/started` });
    const listed = (await stores.sessions({ limit: 1_000 })).filter((each) => each.session === session);
    expect(listed).toEqual([{ session, startedAt: time(0), completed: null }]);
    await expect(stores.read(session)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields: { seq: 0 } });
  });

  for (const [what, json] of [
    ['flipped', '"abd"'],
    ['cut short', '"ab'],
    ['not text', 7],
    ['gone', undefined],
  ] as const) {
    it(`L4: a body that is ${what} is not given`, async () => {
      const session = newSession();
      const row = body(session, 'abc');
      await stores.write([row]);
      const _id = `${session}/${row.ref.digest}`;
      const bodies = db.collection<{ _id: string }>('messages');
      await bodies.updateOne({ _id }, json === undefined ? { $unset: { json: '' } } : { $set: { json } });
      await expect(stores.load(session, 'messages', [row.ref])).rejects.toMatchObject({
        code: 'BODY_MISSING',
        fields: { digest: row.ref.digest, why: json === undefined ? 'missing' : 'altered' },
      });
    });

    it(`P4: a pin that is ${what} is corrupt`, async () => {
      const row = pinned(`${newSession()}abc`);
      await stores.keep([row]);
      const pins = db.collection<{ _id: string }>('pins');
      await pins.updateOne({ _id: row.ref.digest }, json === undefined ? { $unset: { json: '' } } : { $set: { json } });
      await expect(stores.pin(row.ref.digest)).rejects.toMatchObject({ code: 'PIN_CORRUPT' });
    });
  }

  it('L4: a reference with another length is not served', async () => {
    const session = newSession();
    const row = body(session, 'abc');
    await stores.write([row]);
    const ref = { ...bodyOf('abc').ref, bytes: 4 };
    await expect(stores.load(session, 'messages', [row.ref, ref])).rejects.toMatchObject({ code: 'BODY_MISSING' });
  });
});
