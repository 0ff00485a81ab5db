import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, type Document, MongoClient } from 'mongodb';
import { type Problem, verifySession } from '../../src/client/verify.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { mongoUri, newDatabase } from './mongo.ts';
import { body, claim, ended, event, evidence, newSession, time } from './stores.rows.ts';

const database = newDatabase();
const client = new MongoClient(mongoUri());
const db: Db = client.db(database);
const stores = mongoStores({ uri: mongoUri(), database });

beforeAll(() => stores.prepare());
afterAll(async () => {
  await stores.close();
  await client.close();
});

type Raw = Document & { _id: string };
const raw = (table: string) => db.collection<Raw>(table);

/** A session that is over, with rows in every table. Its pin is not there. */
async function whole(): Promise<string> {
  const session = newSession();
  const rows = ended(session);
  const bodies = rows.flatMap(({ envelope }) =>
    envelope.type === 'GenerationCompleted' ? [body(session, { seq: 2 })] : [],
  );
  const record = { into: 'completed', session, phase: 'failed', reason: 'diverged', lastSeq: 3, at: time(3) } as const;
  await stores.write([...bodies, claim(session), ...rows, evidence(session, 'e'), record]);
  await stores.list({ session, class: 'side-effects', why: 'It has made an effect.', at: time(4) });
  return session;
}

/** Every problem but the missing pin. */
async function problems(session: string): Promise<readonly Problem[]> {
  return (await verifySession(stores, session)).problems.filter(({ code }) => code !== 'PIN_CORRUPT');
}

const found = async (session: string) => (await problems(session)).map(({ seq, code }) => [seq, code]);

/** Changes the one row of a session that a table has, the generation's among its events. */
const change = (table: string, update: Document) => (session: string) => {
  const begins = { _id: { $gte: session, $lt: `${session}0` } } as const;
  return raw(table).updateOne(table === 'events' ? { session, seq: 2 } : begins, update);
};
const set = (table: string, fields: Document) => change(table, { $set: fields });
const unset = (table: string, field: string) => change(table, { $unset: { [field]: '' } });

const rowAltered = [[null, 'ROW_ALTERED']];
const indexWrong = [[null, 'INDEX_INCONSISTENT']];
const bodyWrong = [[2, 'BODY_MISSING']];
const logWrong = [[2, 'LOG_UNREADABLE']];

const damages: Record<string, readonly [(session: string) => Promise<unknown>, unknown]> = {
  'an event with another type': [set('events', { type: 'AgentResumed' }), logWrong],
  'an event with no place': [
    set('events', { seq: 'two' }),
    [
      [2, 'LOG_UNREADABLE'],
      [null, 'LOG_UNREADABLE'],
    ],
  ],
  'a body with another text': [set('messages', { json: '{"seq":3}' }), bodyWrong],
  'a body that is cut short': [set('messages', { json: '{"se' }), bodyWrong],
  'a body with no text': [unset('messages', 'json'), bodyWrong],
  'a body with another length': [set('messages', { bytes: 1 }), bodyWrong],
  'a body with another digest': [set('messages', { digest: 'sha256:0' }), bodyWrong],
  'a body of another session': [set('messages', { session: 'other' }), bodyWrong],
  'a body that is gone': [(session) => raw('messages').deleteMany({ session }), bodyWrong],
  'a claim of another worker': [set('dispatches', { worker: 'w-9' }), rowAltered],
  'a claim of another try': [set('dispatches', { claimant: 'try-9' }), rowAltered],
  'a claim of another slice': [set('dispatches', { slice: 9 }), rowAltered],
  'a claim of another session': [set('dispatches', { session: 'other' }), rowAltered],
  'a claim with no checksum': [unset('dispatches', 'sum'), rowAltered],
  'evidence with another text': [set('effects', { json: '{"line":2}' }), rowAltered],
  'evidence with another outcome': [set('effects', { outcome: 'error' }), rowAltered],
  'evidence of another session': [set('effects', { session: 'other' }), rowAltered],
  'another class of recovery': [set('recoverable', { class: 'resume' }), rowAltered],
  'another entry in the index': [set('sessions', { event: 'other' }), indexWrong],
  'an entry of another session': [set('sessions', { session: 'other' }), indexWrong],
  'an entry at another time': [set('sessions', { at: time(9) }), indexWrong],
  'no entry in the index': [(session) => raw('sessions').deleteMany({ session }), indexWrong],
  'a record of another phase': [set('completed', { phase: 'completed' }), indexWrong],
  'a record with no reason': [unset('completed', 'reason'), indexWrong],
  'a record of another end': [set('completed', { lastSeq: 2 }), indexWrong],
  'a log without its end': [(session) => raw('events').deleteOne({ session, seq: 3 }), [[3, 'LOG_UNREADABLE']]],
  'no log': [(session) => raw('events').deleteMany({ session }), [[0, 'LOG_UNREADABLE']]],
};

describe('stores: verify over mongo', () => {
  it('finds nothing wrong with what is whole', async () => {
    expect(await found(await whole())).toEqual([]);
  });

  for (const [what, [damage, expected]] of Object.entries(damages)) {
    it(`L4, L8, F6: finds ${what}`, async () => {
      const session = await whole();
      await damage(session);
      expect(await found(session)).toEqual(expected);
    });
  }

  it('L8: finds all that is wrong at once, a body beyond a gap among them', async () => {
    const session = await whole();
    await raw('events').deleteOne({ session, seq: 1 });
    for (const damage of [
      'a body that is gone',
      'a claim of another try',
      'no entry in the index',
      'a record of another phase',
    ])
      await damages[damage]?.[0](session);
    expect(await found(session)).toEqual([
      [1, 'LOG_UNREADABLE'],
      [2, 'BODY_MISSING'],
      [null, 'INDEX_INCONSISTENT'],
      [null, 'ROW_ALTERED'],
    ]);
  });

  it('F6: what may be lost is no problem', async () => {
    const session = await whole();
    for (const table of ['completed', 'effects', 'recoverable'])
      await raw(table).deleteMany({ _id: { $gte: session, $lt: `${session}0` } });
    expect(await found(session)).toEqual([]);
    await raw('sessions').drop();
    expect(await found(session)).toEqual([]);
  });

  it('W4: once a session is over its claims may be gone, and not before', async () => {
    const session = await whole();
    await raw('dispatches').deleteMany({ session });
    expect(await found(session)).toEqual([]);
    const going = newSession();
    await stores.write([body(going, { seq: 2 }), claim(going), ...ended(going).slice(0, 3)]);
    expect(await found(going)).toEqual([]);
    await raw('dispatches').deleteMany({ session: going });
    expect(await found(going)).toEqual([[2, 'ROW_ALTERED']]);
  });

  it('takes the entries of starts that lost', async () => {
    const session = await whole();
    const [start] = ended(session);
    if (start) expect(await stores.write([event({ ...start.envelope, at: time(40) })])).toBe(0);
    expect(await raw('sessions').countDocuments({ session })).toBe(2);
    expect(await found(session)).toEqual([]);
    await raw('sessions').updateOne({ session, at: time(40) }, { $set: { event: 'other' } });
    expect(await found(session)).toEqual([[null, 'INDEX_INCONSISTENT']]);
  });
});
