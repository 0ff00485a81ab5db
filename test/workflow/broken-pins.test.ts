import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Db, MongoClient } from 'mongodb';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import { filesOf, openPin } from '../../src/pins/open.ts';
import { storeCatalog } from '../../src/pins/store-catalog.ts';
import { canonicalJson } from '../../src/session/canonical-json.ts';
import { sha256Hex } from '../../src/session/digest.ts';
import type { EnvelopeOf } from '../../src/session/envelopes.ts';
import { pauseOf } from '../support/doer.ts';
import { mongoUriOf, openMongo, type Pool, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { skillOf } from '../support/sealing.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
const database = unique('pins');
const stores = openMongo(database);
const taskQueue = unique('pins');
const { model } = goalModel();

let mongo: MongoClient;
let db: Db;
beforeAll(async () => {
  mongo = await MongoClient.connect(mongoUriOf());
  db = mongo.db(database);
  await stores.prepare();
});
afterAll(() => mongo.close());

/** One pool, whose agent has a skill that is its own, so that damage to one pin hits no other. */
async function start(mode: (typeof modes)[number], name: string): Promise<Pool> {
  const input = z.object({});
  const ask = defineTool({
    name: 'ask',
    description: 'Asks.',
    effect: 'read',
    input,
    approval: true,
    run: () => 'yes',
  });
  const agent = defineAgent({
    name,
    version: '1.2.0',
    model: 'goals',
    instructions: '',
    tools: ['ask'],
    skills: [name],
    dispatch: mode,
  });
  return startPool(
    { models: { goals: model }, tools: [ask], agents: [agent] },
    { stores, taskQueue: `${taskQueue}-${name}`, workflowTaskMs: 2_000 },
  );
}

interface Damage {
  readonly of: 'pins' | 'files';
  /** What becomes of the row, whose text is given; null: it is deleted. */
  readonly to: ((text: string) => object) | null;
  /** Where of the files: the text that load_skill reads, or one that only `read_skill_file` does. */
  readonly file?: 'body' | 'rules';
  readonly says: RegExp;
}

const damages: Readonly<Record<string, Damage>> = {
  'is missing': { of: 'pins', to: null, says: /is missing/ },
  'is cut short': { of: 'pins', to: (json) => ({ json: json.slice(0, -9) }), says: /is truncated/ },
  'is no JSON': { of: 'pins', to: (json) => ({ json: `]${json.slice(1)}` }), says: /is altered/ },
  'has another digest': { of: 'pins', to: (json) => ({ json: json.replace('1.2.0', '1.2.1') }), says: /is altered/ },
  'lacks the text of a skill': { of: 'files', file: 'body', to: null, says: /without the text of the skill .*missing/ },
  'lacks a file of a skill': {
    of: 'files',
    file: 'rules',
    to: null,
    says: /without the file references\/rules\.md .*missing/,
  },
  'has another file of a skill': {
    of: 'files',
    file: 'rules',
    to: (text) => ({ text: text.replace('Rules', 'Ruled') }),
    says: /without the file references\/rules\.md .*altered/,
  },
};

/** Damages the pin of a session. */
async function damage(digest: string, { of, to, file }: Damage): Promise<void> {
  const pinned = openPin(await stores.pin(digest), digest);
  const what = file === 'body' ? /the text of/ : /rules\.md/;
  const _id = of === 'pins' ? digest : filesOf(pinned).find((one) => what.test(one.what))?.digest;
  const table = db.collection<{ _id: string; json?: string; text?: string }>(of);
  const row = await table.findOne({ _id: _id ?? '' });
  if (row === null) throw new Error(`there is no row ${_id}`);
  if (to === null) await table.deleteOne({ _id: row._id });
  else await table.updateOne({ _id: row._id }, { $set: to(row.json ?? row.text ?? '') });
}

const putSkill = (name: string) =>
  storeCatalog(stores).put(skillOf(name, { 'references/rules.md': `Rules of ${name}.` }));

const goal = (name: string) =>
  goalOf(
    calls(['ask']),
    calls(['load_skill', { name }], ['read_skill_file', { skill: name, path: 'references/rules.md' }]),
  );

const closed = (pool: Pool, { id }: SessionHandle) =>
  until('its workflow has failed', async () => {
    const { status } = await pool.client.workflow.getHandle(id).describe();
    return status.name === 'FAILED';
  });

async function failsLoudly(mode: (typeof modes)[number], harm: Damage): Promise<void> {
  const name = unique('clerk');
  await putSkill(name);
  const before = await start(mode, name);
  const session = await before.start(name, goal(name));
  const pause = await pauseOf(session);
  await before.stop();
  const [started] = (await session.events()) as [EnvelopeOf<'SessionStarted'>];
  const { digest } = started.data.pin;
  const backup: string[] = [];
  for await (const line of before.apomesh.pins.export([digest])) backup.push(line);
  await damage(digest, harm);
  const pool = await start(mode, name);
  const { recovery, sessions, pins } = pool.apomesh;
  await pool.client.workflow.getHandle(session.id).signal('answer', { pause, decision: 'approve' });
  await closed(pool, session);
  const log = await session.events();
  const why = expect.stringMatching(harm.says);
  const listed = { session: session.id, class: 'pin', why };
  const ofThis = async () => (await recovery.list()).filter((entry) => entry.session === session.id);
  const failed = pool.client.workflow.getHandle(session.id).result();
  await expect(failed).rejects.toMatchObject({ cause: { type: 'PIN_CORRUPT', message: why } });
  expect(await ofThis()).toMatchObject([listed]);
  const [entry] = await ofThis();
  expect(entry?.why).toMatch(
    new RegExp(`pin sha256:\\w+ of ${name}@1\\.2\\.0 is .*apomesh publish .*apomesh pins import`),
  );
  expect((await recovery.scan()).find((finding) => finding.session === session.id)).toMatchObject(listed);
  await expect(recovery.resume(session.id)).rejects.toMatchObject({ code: 'PIN_CORRUPT' });
  expect((await session.verify()).problems).toMatchObject([{ code: 'PIN_CORRUPT', message: why }]);
  expect(await session.events()).toEqual(log);
  await pins.import(backup);
  // A scan for another of these sessions may be faster.
  await recovery.resume(session.id).catch((error) => expect(error).toMatchObject({ code: 'SESSION_LIVE' }));
  const resumed = sessions.get(session.id);
  expect(await resumed.output()).toBe('done');
  expect(await ofThis()).toEqual([]);
  expect((await resumed.view()).resumes).toBe(1);
  expect((await resumed.verify()).problems).toEqual([]);
  await pool.stop();
}

describe('a session whose pin is broken while it waits', () => {
  it.each(modes)('P4: fails by name, is listed unchanged, and goes on once the pin is back (%s)', async (mode) => {
    await Promise.all(Object.values(damages).map((harm) => failsLoudly(mode, harm)));
  });
});

/** A pin whose bytes are what its digest says, and which is none. */
const sealedWrong: Readonly<Record<string, { readonly of: (json: string) => string; code: string; says: RegExp }>> = {
  'no JSON': { of: (json) => `]${json}`, code: 'PIN_CORRUPT', says: /undecodable \(not JSON\)/ },
  'of another schema version': {
    of: (json) => canonicalJson({ ...JSON.parse(json), v: 3 }),
    code: 'PIN_CORRUPT',
    says: /undecodable \(.*\bv\b/s,
  },
  'without a skill': {
    of: (json) => canonicalJson({ ...JSON.parse(json), skills: [] }),
    code: 'SKILL_NOT_IN_BUNDLE',
    says: /clerk-\w+@1\.2\.0 has the skill clerk-\w+, and its pin sha256:\w+ does not/,
  },
};

describe('a pin that was sealed wrong', () => {
  it.each(Object.entries(sealedWrong))(
    'P2, P4: %s: its sessions are listed, and nobody resumes them',
    async (_, wrong) => {
      const name = unique('clerk');
      await putSkill(name);
      const pool = await start('loop', name);
      const session = await pool.start(name, goal(name));
      await pauseOf(session);
      const [started] = (await session.events()) as [EnvelopeOf<'SessionStarted'>];
      const json = wrong.of(await stores.pin(started.data.pin.digest));
      const ref = { digest: `sha256:${sha256Hex(json)}`, bytes: Buffer.byteLength(json) };
      await stores.keep([{ into: 'pins', ref, json }]);
      const { recovery, sessions } = pool.apomesh;
      const id = unique('s');
      const pin = { ...started.data.pin, digest: ref.digest };
      const at = new Date(Date.now() - 3_600_000).toISOString();
      const agent = `${id}/root-1`;
      const data = { ...started.data, root: agent, pin };
      await stores.write([{ into: 'events', envelope: { ...started, session: id, agent, at, data } }]);
      const failure = { code: wrong.code, message: expect.stringMatching(wrong.says) };
      const found = (await recovery.scan()).find((finding) => finding.session === id);
      expect(found).toMatchObject({ class: 'pin', why: failure.message });
      await expect(recovery.resume(id)).rejects.toMatchObject(failure);
      expect((await sessions.get(id).verify()).problems).toMatchObject([failure]);
      await session.cancel();
      await pool.stop();
    },
  );
});
