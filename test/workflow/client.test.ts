import { describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { ApomeshClient } from '../../src/client/client.ts';
import {
  AgentNotFoundError,
  ConfigInvalidError,
  SkillNotInBundleError,
  TemporalUnreachableError,
  UsageError,
} from '../../src/contract/errors.ts';
import { AGENT, PHASE } from '../../src/contract/search-attributes.ts';
import { openPin } from '../../src/pins/open.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { bodyDigest } from '../../src/session/digest.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { config, doerPool, instructions, pauseOf } from '../support/doer.ts';
import { historyOf } from '../support/history.ts';
import { connect, unique } from '../support/pool.ts';
import { calls, goalOf } from '../support/script.ts';

describe('starting a session', () => {
  it('P3: pins the agent and logs the start, in that order, before the workflow runs', async () => {
    const { apomesh, stores, taskQueue, client } = await doerPool();
    const id = unique('s');
    const goal = goalOf(calls(['note', { text: 'a' }]));
    const session = await apomesh.sessions.start({
      agent: 'doer@1.2.0',
      goal,
      id,
      taskQueue,
      durability: 'replayable',
    });
    const [first] = await session.events();
    expect(first).toMatchObject({
      seq: 0,
      id: 'started',
      type: 'SessionStarted',
      agent: `${id}/root-1`,
      writer: { resume: 0, epoch: 0 },
      data: { goal, root: `${id}/root-1`, namespace: 'default', taskQueue, durability: 'replayable' },
    });
    if (first?.type !== 'SessionStarted') throw new Error('no start');
    const { pin, shape } = first.data;
    expect(shape).toMatchObject({
      kind: 'solo',
      agent: 'doer',
      version: '1.2.0',
      tools: ['note', 'ask'],
      durability: 'replayable',
    });
    expect(JSON.stringify(shape)).not.toContain(instructions);
    const pinned = openPin(await stores.pin(pin.digest), pin.digest);
    expect(pinned).toMatchObject({ name: 'doer', instructions, tools: [{ name: 'note' }, { name: 'ask' }] });
    const described = await client.workflow.getHandle(id).describe();
    expect(described).toMatchObject({ type: 'apomeshSession', taskQueue });
    expect(described.typedSearchAttributes.get(AGENT)).toBe('doer');
    expect(described.typedSearchAttributes.get(PHASE)).toBeDefined();
    expect(await session.output()).toBe('done');
  });

  it('L7: the goal does not travel through Temporal, its digest does', async () => {
    const { client, start } = await doerPool();
    const goal = goalOf({ text: 'told' });
    const session = await start('doer', goal);
    expect(await session.output()).toBe('told');
    const { text } = await historyOf(client, session.id);
    expect(text).toContain(bodyDigest(goal));
    expect(text).not.toContain('told');
  });

  it('gives an id that is readable and unique where none is given', async () => {
    const { apomesh, taskQueue } = await doerPool();
    const options = { agent: 'doer', goal: goalOf(), taskQueue };
    const started = await Promise.all([apomesh.sessions.start(options), apomesh.sessions.start(options)]);
    const [one = '', other = ''] = started.map(({ id }) => id);
    expect(one).toMatch(/^doer-\d{4}-\d\d-\d\d-[0-9a-f]{10}$/);
    expect(one).not.toBe(other);
    await Promise.all(started.map((session) => session.output()));
  });

  it('R5, R6: refuses an id that is taken, whether its session goes on or is over, and leaves it as it is', async () => {
    const { start } = await doerPool();
    const session = await start('doer', goalOf(calls(['ask', { text: 'a' }])));
    const pause = await pauseOf(session);
    const before = await session.events();
    await expect(start('doer', 'another goal', session.id)).rejects.toMatchObject({ code: 'SESSION_LIVE' });
    expect((await session.events()).slice(0, before.length)).toEqual(before);
    await session.answer(pause, { decision: 'approve' });
    await session.output();
    const after = await session.events();
    await expect(start('doer', 'another goal', session.id)).rejects.toMatchObject({
      code: 'SESSION_TERMINAL',
      fields: { session: session.id, phase: 'completed' },
    });
    expect(await session.events()).toEqual(after);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('completes a start that broke off before Temporal had it', async () => {
    const { stores, taskQueue } = await doerPool();
    const { connection } = await connect();
    const broken = new Client({
      connection,
      plugins: [new ApomeshPlugin(config, { stores })],
      interceptors: { workflow: [{ start: () => Promise.reject(new Error('broke off')) }] },
    });
    const options = { agent: 'doer', goal: goalOf(calls(['note', { text: 'a' }])), id: unique('s'), taskQueue };
    await expect(new ApomeshClient({ client: broken }).sessions.start(options)).rejects.toThrow('broke off');
    const orphan = await stores.read(options.id);
    expect(orphan).toHaveLength(1);
    const { apomesh } = await doerPool();
    const other = apomesh.sessions.start({ ...options, goal: 'another' });
    await expect(other).rejects.toMatchObject({ code: 'SESSION_LIVE' });
    const session = await apomesh.sessions.start(options);
    expect(await session.output()).toBe('done');
    expect((await session.events()).slice(0, 1)).toEqual(orphan);
  });

  it.each([
    ['an agent that is not there', { agent: 'nobody' }, AgentNotFoundError],
    ['a version that is not there', { agent: 'doer@2.0.0' }, AgentNotFoundError],
    ['a range that nothing is in', { agent: 'doer@^2.0.0' }, AgentNotFoundError],
    ['a skill that is not there', { agent: 'skilled' }, SkillNotInBundleError],
    ['a slash in the id', { id: 'a/b' }, UsageError],
    ['a NUL in the id', { id: 'a\0b' }, UsageError],
    [
      'half a surrogate pair in the goal',
      { goal: 'a\ud800' },
      expect.objectContaining({ code: 'UNSERIALIZABLE_VALUE', fields: expect.objectContaining({ path: '$.goal' }) }),
    ],
    [
      'a goal over 64 KiB of UTF-8',
      { goal: 'é'.repeat(32 * 1024 + 1) },
      expect.objectContaining({ code: 'BODY_TOO_LARGE', fields: { bytes: 65_538, limit: 65_536 } }),
    ],
  ])('refuses %s before anything is written', async (_what, wrong, expected) => {
    let writes = 0;
    const write = async (rows: readonly unknown[]) => {
      writes += 1;
      return rows.length;
    };
    const keep = () => write([]).then(() => undefined);
    const stores = { ...memoryStores(), write, keep };
    const { connection } = await connect();
    const skilled = { name: 'skilled', model: 'goal', instructions: '', skills: ['absent'] };
    const agents = [...(config.agents ?? []), skilled];
    const apomesh = new ApomeshClient({
      client: new Client({ connection, plugins: [new ApomeshPlugin({ ...config, agents }, { stores })] }),
    });
    const starting = apomesh.sessions.start({ agent: 'doer', goal: 'g', ...wrong }).catch((error: unknown) => error);
    if (typeof expected === 'function') expect(await starting).toBeInstanceOf(expected);
    else expect(await starting).toEqual(expected);
    expect(writes).toBe(0);
  });

  it('takes a goal of 64 KiB, and one of odd characters', async () => {
    const { apomesh, taskQueue, stores } = await doerPool();
    const goal = JSON.stringify({ steps: [], odd: '\0 $ __proto__ 😀 \u2028' });
    const long = goal.padEnd(64 * 1024 - Buffer.byteLength(goal) + goal.length, ' ');
    const session = await apomesh.sessions.start({ agent: 'doer', goal: long, taskQueue });
    expect(await session.output()).toBe('done');
    expect((await session.view()).bootstrap?.goal).toBe(long);
    expect(await stores.read(session.id, 0, 1)).toMatchObject([{ data: { goal: long } }]);
  });

  it('L7: refuses instructions over the limit of a body', async () => {
    const small = {
      ...config,
      agents: config.agents?.map((agent) => ({ ...agent, instructions: 'x'.repeat(3_000) })) ?? [],
    };
    const plugin = new ApomeshPlugin({ ...small, limits: { maxBodyBytes: 2_000 } }, { stores: memoryStores() });
    const { connection } = await connect();
    const apomesh = new ApomeshClient({ client: new Client({ connection, plugins: [plugin] }) });
    await expect(apomesh.sessions.start({ agent: 'doer', goal: 'g' })).rejects.toMatchObject({
      code: 'BODY_TOO_LARGE',
    });
  });

  it('needs a config, which a client that only reads does not', async () => {
    const { connection } = await connect();
    const { stores } = await doerPool();
    const apomesh = new ApomeshClient({ client: new Client({ connection }), stores });
    await expect(apomesh.sessions.start({ agent: 'doer', goal: 'g' })).rejects.toMatchObject({
      code: 'AGENT_NOT_FOUND',
      message: expect.stringContaining('give the Client the ApomeshPlugin'),
    });
    expect(await apomesh.sessions.list({ limit: 1 })).toHaveLength(1);
    expect(
      () => new ApomeshClient({ client: new Client({ connection }), stores, config: { agents: [{}] } as never }),
    ).toThrow(ConfigInvalidError);
  });

  it('names Temporal’s address within 10 s where it does not answer, and writes nothing', async () => {
    const stores = memoryStores();
    const connection = Connection.lazy({ address: '127.0.0.1:1' });
    const apomesh = new ApomeshClient({
      client: new Client({ connection, plugins: [new ApomeshPlugin(config, { stores })] }),
    });
    const since = Date.now();
    const error = await apomesh.sessions.start({ agent: 'doer', goal: 'g' }).catch((error: unknown) => error);
    expect(Date.now() - since).toBeLessThan(10_000);
    expect(error).toBeInstanceOf(TemporalUnreachableError);
    expect(error).toMatchObject({ fields: { address: '127.0.0.1:1' } });
    expect(await stores.sessions()).toEqual([]);
    await connection.close();
  });
});
