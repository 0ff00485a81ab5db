import { describe, expect, it } from '@jest/globals';
import type { SessionHandle } from '../../src/client/handle.ts';
import { answerCommands } from '../../src/contract/commands.ts';
import { UsageError } from '../../src/contract/errors.ts';
import { config, doerPool, pauseOf, tailed } from '../support/doer.ts';
import { startPool, unique } from '../support/pool.ts';
import { calls, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

describe('following a session', () => {
  it('gives every envelope once, to the end, from any seq', async () => {
    const { start } = await doerPool();
    const session = await start('doer', goalOf(calls(['note', { text: 'a' }]), calls(['note', { text: 'b' }])));
    const live = await tailed(session);
    expect(live.map(({ seq }) => seq)).toEqual(live.map((_, i) => i));
    expect(live.at(-1)).toMatchObject({ type: 'AgentLifecycle', data: { phase: 'completed' } });
    expect(await session.events()).toEqual(live);
    expect(await tailed(session, 5)).toEqual(live.slice(5));
    expect(await session.view()).toMatchObject({ terminal: true, lastSeq: live.length - 1, sideEffects: 2 });
    expect(() => session.tail({ from: -1 })).toThrow(UsageError);
  });

  it('lists it, and the pauses of all', async () => {
    const { apomesh, start } = await doerPool();
    const session = await start('doer', goalOf(calls(['ask', { text: "it's" }])));
    const [pause] = await until('it waits', async () => {
      const found = [];
      for await (const pause of apomesh.sessions.pauses()) if (pause.session === session.id) found.push(pause);
      return found.length > 0 && found;
    });
    expect(pause).toMatchObject({
      kind: 'approval',
      tool: 'ask',
      args: { text: "it's" },
      accepts: ['approve', 'reject', 'edit'],
    });
    expect(pause?.commands['edit']).toEqual(answerCommands(session.id, pause?.pause ?? '', 'edit', { text: "it's" }));
    expect(await session.outcome()).toBeNull();
    await expect(session.output({ wait: false })).rejects.toMatchObject({ code: 'SESSION_LIVE' });
    const waiting = await until('its phase is known', async () => {
      const [entry] = (await apomesh.sessions.list()).filter((entry) => entry.session === session.id);
      return entry?.phase === 'waiting' && entry;
    });
    expect(waiting).toMatchObject({ agent: 'doer', pauses: 1, endedAt: null });
    await session.answer(pause?.pause ?? '', { decision: 'edit', args: { text: 'edited' }, by: 'me' });
    expect(await session.output()).toBe('done');
    expect(await session.pauses()).toEqual([]);
    const [entry] = (await apomesh.sessions.list({ phase: 'completed' })).filter(
      (entry) => entry.session === session.id,
    );
    expect(entry).toMatchObject({ phase: 'completed', pauses: 0, endedAt: expect.any(String) });
  });
});

describe('acting on a session', () => {
  it('H2: says why an answer is refused', async () => {
    const { start } = await doerPool();
    const session = await start('doer', goalOf(calls(['ask', { text: 'a' }])));
    const pause = await pauseOf(session);
    const refused = (...args: Parameters<SessionHandle['answer']>) => expect(session.answer(...args)).rejects;
    await refused('nope', { decision: 'approve' }).toMatchObject({ code: 'UNKNOWN_PAUSE', fields: { open: [pause] } });
    await refused(pause, { decision: 'perhaps' }).toMatchObject({ code: 'INVALID_ANSWER' });
    await refused(pause, { decision: 'edit', args: { text: 3 } }).toMatchObject({ code: 'INVALID_ANSWER' });
    await refused(pause, { decision: 'edit', args: { text: 'x'.repeat(70_000) } }).toMatchObject({
      code: 'INVALID_ANSWER',
    });
    await session.answer(pause, { decision: 'reject', reason: 'no' });
    await refused(pause, { decision: 'approve' }).toMatchObject({ code: 'PAUSE_ANSWERED' });
    expect(await session.output()).toBe('done');
    await refused(pause, { decision: 'approve' }).toMatchObject({
      code: 'SESSION_TERMINAL',
      fields: { phase: 'completed' },
    });
    await expect(session.cancel()).rejects.toMatchObject({ code: 'SESSION_TERMINAL' });
  });

  it('cancels, and says so instead of an output', async () => {
    const { start } = await doerPool();
    const session = await start('doer', goalOf(calls(['ask', { text: 'a' }])));
    await pauseOf(session);
    await session.cancel('not needed');
    await expect(session.output()).rejects.toMatchObject({
      code: 'SESSION_FAILED',
      fields: { session: session.id, phase: 'cancelled', detail: 'not needed' },
    });
    expect(await session.outcome()).toMatchObject({ phase: 'cancelled', output: null });
    expect((await session.verify()).problems).toEqual([]);
  });

  it('refuses what is no session', async () => {
    const { apomesh } = await doerPool();
    const session = apomesh.sessions.get(unique('nobody'));
    const notFound = { code: 'SESSION_NOT_FOUND', fields: { session: session.id } };
    await expect(session.view()).rejects.toMatchObject(notFound);
    await expect(session.events(3)).rejects.toMatchObject(notFound);
    await expect(session.output()).rejects.toMatchObject(notFound);
    await expect(session.answer('p', { decision: 'approve' })).rejects.toMatchObject(notFound);
    await expect(session.cancel()).rejects.toMatchObject(notFound);
    await expect(session.verify()).rejects.toMatchObject(notFound);
    await expect(tailed(session)).rejects.toMatchObject(notFound);
    expect(() => apomesh.sessions.get('a/b')).toThrow(UsageError);
  });

  it('does not wait for a session that Temporal no longer runs', async () => {
    const { start, client } = await doerPool();
    const session = await start('doer', goalOf(calls(['ask', { text: 'a' }])));
    await pauseOf(session);
    expect(await session.standstill()).toBeNull();
    await client.workflow.getHandle(session.id).terminate('lost');
    expect(await session.standstill()).toMatchObject({ class: null, why: expect.stringContaining('TERMINATED') });
    await expect(session.output({ wait: false })).rejects.toMatchObject({ code: 'SESSION_STOPPED' });
    await expect(session.output()).rejects.toMatchObject({ code: 'SESSION_STOPPED', fields: { status: 'TERMINATED' } });
    await expect(session.cancel()).rejects.toMatchObject({ code: 'SESSION_STOPPED' });
  });

  it('H2: says that no worker takes an answer, which counts when one comes, unless the run is ended before', async () => {
    const { stores } = await doerPool();
    const idle = await startPool(config, { stores });
    const goal = goalOf(calls(['ask', { text: 'a' }]));
    const sessions = await Promise.all([idle.start('doer', goal), idle.start('doer', goal)]);
    const [kept, takenBack] = sessions;
    const pauses = await Promise.all(sessions.map(pauseOf));
    await idle.stop();
    await Promise.all(
      sessions.map((session, i) =>
        expect(session.answer(pauses[i] ?? '', { decision: 'approve', by: 'first' })).rejects.toMatchObject({
          code: 'NO_WORKER',
          message: expect.stringContaining('stays queued in Temporal and counts when a worker takes it'),
          fields: { session: session.id, queued: true, instead: null },
        }),
      ),
    );
    await idle.client.workflow.getHandle(takenBack.id).terminate();
    const { apomesh } = await startPool(config, { stores, taskQueue: idle.taskQueue });
    await apomesh.recovery.resume(takenBack.id);
    expect(await kept.output()).toBe('done');
    const answers = (await kept.events()).filter(({ type }) => type === 'PauseAnswered');
    expect(answers).toMatchObject([{ data: { pause: pauses[0], decision: 'approve', by: 'first' } }]);
    await takenBack.answer(pauses[1] ?? '', { decision: 'reject', by: 'second' });
    expect(await takenBack.output()).toBe('done');
  });
});
