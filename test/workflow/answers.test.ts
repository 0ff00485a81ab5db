import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { answerCommands } from '../../src/contract/commands.ts';
import { defineAgent, defineTool, type Envelope } from '../../src/index.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { keptUpdates } from '../support/kept-updates.ts';
import { mongoUriOf, openMongo, type Pool, type PoolOptions, startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { shell, temporalCli } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ to: z.string() }),
  approval: true,
  run: ({ to }) => `${to} is paid`,
});

const open = (options: PoolOptions = {}) =>
  startPool(
    {
      models: { goals: goalModel().model },
      tools: [pay],
      agents: [defineAgent({ name: 'a', model: 'goals', instructions: '', tools: ['pay'] })],
      limits: { heartbeatTimeout: '1s' },
    },
    options,
  );

let pool: Pool;
beforeAll(async () => {
  pool = await open();
});

/** A session that waits for an approval. */
async function waiting(on = pool): Promise<{ session: SessionHandle; pause: string }> {
  const session = await on.start('a', goalOf(calls(['pay', { to: 'ann' }])), unique("it's"));
  const { pause } = await until('it waits', async () => (await session.pauses())[0]);
  return { session, pause };
}

const refusals = (events: readonly Envelope[]) =>
  events.flatMap(({ type, data }) => (type === 'AnswerRefused' ? [data] : []));

describe('an answer', () => {
  it('H1: is taken by signal', async () => {
    const { session, pause } = await waiting();
    await pool.client.workflow.getHandle(session.id).signal('answer', { pause, decision: 'approve', by: 'eve' });
    expect(await session.output()).toBe('done');
  });

  it('H1, H2: is taken by update, which returns when the answer is on the log', async () => {
    const { session, pause } = await waiting();
    const answer = { pause, decision: 'approve' };
    const handle = pool.client.workflow.getHandle(session.id);
    expect(await handle.executeUpdate('answer', { args: [answer] })).toEqual(answer);
    const answered = (await session.events()).filter(({ type }) => type === 'PauseAnswered');
    expect(answered).toMatchObject([{ data: answer }]);
    await session.output();
  });

  it('H1: is taken from the temporal command, as the details of the workflow and the client give it', async () => {
    const { session, pause } = await waiting();
    await shell(answerCommands(session.id, pause, 'approve').temporal);
    expect(await session.output()).toBe('done');
    const other = await waiting();
    const input = JSON.stringify({ pause: other.pause, decision: 'reject', reason: 'no' });
    await temporalCli('workflow', 'signal', '--workflow-id', other.session.id, '--name', 'answer', '--input', input);
    expect(await other.session.output()).toBe('done');
  });

  it('H2: a second is refused, and an unknown pause, and an answer that is not accepted, saying what is', async () => {
    const { session, pause } = await waiting();
    const wrong = session.answer(pause, { decision: 'maybe' });
    const message = expect.stringMatching(/maybe.*approve, reject, edit/);
    await expect(wrong).rejects.toMatchObject({ code: 'INVALID_ANSWER', message });
    const unknown = session.answer('approval-1', { decision: 'approve' });
    const named = expect.stringContaining(`open: ${pause}`);
    await expect(unknown).rejects.toMatchObject({ code: 'UNKNOWN_PAUSE', message: named, fields: { open: [pause] } });
    await session.answer(pause, { decision: 'approve' });
    const second = session.answer(pause, { decision: 'reject' });
    await expect(second).rejects.toMatchObject({ code: expect.stringMatching(/PAUSE_ANSWERED|SESSION_TERMINAL/) });
    expect(await session.output()).toBe('done');
    expect(refusals(await session.events())).toEqual([]);
  });

  it('H2: of many at once one is accepted and all others are told', async () => {
    const goal = goalOf(calls(['pay', { to: 'ann' }], ['pay', { to: 'bob' }]));
    const session = await pool.start('a', goal);
    const [first, second] = await until('both wait', async () => {
      const pauses = await session.pauses();
      return pauses.length === 2 && pauses.map(({ pause }) => pause);
    });
    const answers = ['approve', 'reject', 'approve', 'reject'].map((decision, i) =>
      session.answer(first ?? '', { decision, by: `person ${i}` }),
    );
    const settled = await Promise.allSettled(answers);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of settled)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'PAUSE_ANSWERED' });
    await session.answer(second ?? '', { decision: 'approve' });
    await session.output();
    expect((await session.events()).filter(({ type }) => type === 'PauseAnswered')).toHaveLength(2);
  });

  it('H2: a bad signal never fails the session, and is logged as refused', async () => {
    const { session, pause } = await waiting();
    const handle = pool.client.workflow.getHandle(session.id);
    const garbage = [
      ...[undefined, null, 1, 'approve', true, [], {}, [{ pause, decision: 'approve' }]],
      ...[{ pause }, { decision: 'approve' }, { pause: 1, decision: 2 }, { pause, decision: {} }],
      ...[
        { pause, decision: 'maybe' },
        { pause: 'nothing', decision: 'approve' },
      ],
      ...[
        { pause, decision: 'approve', by: 5 },
        { pause, decision: 'approve', more: 1 },
      ],
      ...[
        { pause, decision: 'edit' },
        { pause, decision: 'edit', args: { to: 1 } },
      ],
      ...[
        { pause: '\ud800', decision: 'approve' },
        { pause, decision: 'approve', reason: '\udfff' },
      ],
      ...[
        { pause, decision: 'edit', args: { to: '\ud800' } },
        JSON.parse('{"__proto__":1,"pause":"x","decision":"y"}'),
      ],
      ...[new Uint8Array([1, 2, 3]), new Uint8Array(0)],
      { pause, decision: 'approve', reason: 'x'.repeat(70_000) },
      { pause: { toString: null }, decision: 'approve' },
      { pause: 'x'.repeat(1_200_000), decision: 'approve' },
    ];
    for (const answer of garbage) await handle.signal('answer', answer);
    await handle.signal('answer');
    const codes = await until('all are refused', async () => {
      const all = refusals(await session.events());
      return all.length === 19 && all;
    });
    expect(new Set(codes.map(({ why }) => why))).toEqual(new Set(['UNKNOWN_PAUSE', 'INVALID_ANSWER']));
    expect((await session.pauses()).map(({ pause }) => pause)).toEqual([pause]);
    await handle.signal('answer', { pause, decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect((await session.verify()).problems).toEqual([]);
  });

  it('H2: a signal whose payload cannot be read never stops the session', async () => {
    const { session, pause } = await waiting();
    const { connection, options } = pool.client;
    const utf8 = new TextEncoder();
    const deep = `{"pause":"${pause}","decision":"edit","args":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    const payloads = [
      { metadata: { encoding: utf8.encode('json/plain') }, data: utf8.encode(deep) },
      { metadata: { encoding: utf8.encode('json/plain') }, data: utf8.encode('{"pause":') },
      { metadata: { encoding: utf8.encode('json/plain') }, data: new Uint8Array([0xff, 0xfe]) },
      { metadata: { encoding: utf8.encode('binary/encrypted') }, data: utf8.encode('{}') },
      { metadata: {}, data: utf8.encode('{}') },
    ];
    for (const payload of payloads) {
      await connection.workflowService.signalWorkflowExecution({
        namespace: options.namespace,
        workflowExecution: { workflowId: session.id },
        signalName: 'answer',
        input: { payloads: [payload] },
      });
    }
    await session.answer(pause, { decision: 'approve' });
    expect(await session.output()).toBe('done');
  });

  it('L7: of more than 64 KiB is refused', async () => {
    const { session, pause } = await waiting();
    const handle = pool.client.workflow.getHandle(session.id);
    const large = { pause, decision: 'edit', args: { to: 'x'.repeat(65_536) } };
    await expect(handle.executeUpdate('answer', { args: [large] })).rejects.toMatchObject({
      cause: { type: 'INVALID_ANSWER', message: expect.stringMatching(/65\d{3} bytes.*65536/) },
    });
    await handle.signal('answer', large);
    const [refused] = await until('it is logged', async () => {
      const all = refusals(await session.events());
      return all.length > 0 && all;
    });
    expect(refused).toEqual({ pause, why: 'INVALID_ANSWER' });
    await handle.signal('answer', { ...large, args: { to: 'x'.repeat(65_000) } });
    expect(await session.output()).toBe('done');
  });

  it('H3: by signal counts that comes while no worker runs', async () => {
    const first = await open();
    const { session, pause } = await waiting(first);
    await first.stop();
    await first.client.workflow.getHandle(session.id).signal('answer', { pause, decision: 'approve' });
    expect((await session.view()).pauses).toHaveLength(1);
    await open({ stores: first.stores, taskQueue: first.taskQueue });
    expect(await session.output()).toBe('done');
  });

  it('H3: by signal counts that comes while the store is away', async () => {
    const { host, searchParams } = new URL(mongoUriOf());
    const [name = '', port] = host.split(':');
    const proxy = await startTcpProxy(name, Number(port), () => false);
    const uri = `mongodb://127.0.0.1:${proxy.port}/?${searchParams}&serverSelectionTimeoutMS=300`;
    const away = await open({ stores: openMongo(unique('away'), uri) });
    const { session, pause } = await waiting(away);
    proxy.cut();
    await away.client.workflow.getHandle(session.id).signal('answer', { pause, decision: 'approve' });
    await sleep(3_000);
    proxy.resume();
    expect(await session.output()).toBe('done');
    await away.stop();
    await proxy.close();
  });

  it('H3: is kept by Temporal before it is on the log, so that a server that dies forgets none that is', async () => {
    const { stores, counts } = keptUpdates(
      memoryStores(),
      () => pool.client,
      ({ type }) => type === 'PauseAnswered',
    );
    const looking = await open({ stores });
    const { session, pause } = await waiting(looking);
    await session.answer(pause, { decision: 'approve' });
    expect(await session.output()).toBe('done');
    expect([...counts]).toEqual([[session.id, 1]]);
  });

  it('H2: whose run is ended while it is taken is told that the session has stopped', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const stores = memoryStores();
    const write: typeof stores.write = async (rows) => {
      if (rows.some((row) => row.into === 'events' && row.envelope.type === 'PauseAnswered')) {
        reached.resolve();
        await released;
      }
      return stores.write(rows);
    };
    const slow = await open({ stores: { ...stores, write } });
    const { session, pause } = await waiting(slow);
    const answer = session.answer(pause, { decision: 'approve' });
    await reached.promise;
    await slow.client.workflow.getHandle(session.id).terminate();
    await expect(answer).rejects.toMatchObject({ code: 'SESSION_STOPPED' });
    release();
  });
});
