import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { SessionHandle } from '../../src/client/handle.ts';
import { RECOVERY_ID } from '../../src/contract/recovery.ts';
import type { SessionStatus } from '../../src/contract/session.ts';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import type { Stores } from '../../src/ports/store.ts';
import { fold } from '../../src/session/fold.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { pauseOf, tailed } from '../support/doer.ts';
import { newNamespace } from '../support/namespace.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { temporalCli } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

const input = z.object({ text: z.string() });
const modes = ['loop', 'call'] as const;

/** A pool in a namespace of its own, whose workers ask for scans. */
async function recovering(
  stores: Stores,
  { recovery }: Pick<ApomeshConfig, 'recovery'> = {},
): Promise<Pool & { ran: string[] }> {
  const ran: string[] = [];
  const run = ({ text }: z.infer<typeof input>) => {
    ran.push(text);
    return text;
  };
  const tools = [
    defineTool({ name: 'note', description: 'Notes.', input, run }),
    defineTool({ name: 'look', description: 'Looks.', input, effect: 'read', run }),
    defineTool({ name: 'ask', description: 'Asks.', input, approval: true, run }),
    ...['stubborn', 'obedient'].map((name) =>
      defineTool({
        name,
        description: 'Takes long.',
        input,
        timeout: '3s',
        run: async ({ text }, { signal }) => {
          ran.push(text);
          signal.addEventListener('abort', () => ran.push(`${name} was told`), { once: true });
          await sleep(60_000, undefined, { ref: false, ...(name === 'obedient' && { signal }) });
        },
      }),
    ),
  ];
  const agents = modes.map((dispatch) =>
    defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: tools.map(({ name }) => name), dispatch }),
  );
  const pool = await startPool(
    { models: { goals: goalModel().model }, tools, agents, recovery: recovery ?? false, limits: { doubtGrace: 100 } },
    { stores, namespace: await newNamespace('recovery'), firstRunMs: 3_000 },
  );
  return Object.assign(pool, { ran });
}

/** Waits until Temporal has given a session up. */
const lost = (pool: Pool, { id }: SessionHandle) =>
  until('its workflow has timed out', async () => {
    const { status } = await pool.client.workflow.getHandle(id).describe();
    return status.name === 'TIMED_OUT';
  });

describe.each(modes)('a lost session (%s)', (mode) => {
  it('is resumed by a scan, and an open pause is still open under its id (R3, R7)', async () => {
    const pool = await recovering(memoryStores());
    const session = await pool.start(mode, goalOf(calls(['look', { text: 'a' }]), calls(['ask', { text: 'b' }])));
    const pause = await pauseOf(session);
    await lost(pool, session);
    const [finding] = await pool.apomesh.recovery.scan();
    expect(finding).toMatchObject({ session: session.id, class: 'resume' });
    await until('it is resumed', async () => (await session.view()).resumes === 1);
    expect(await pauseOf(session)).toBe(pause);
    await session.answer(pause, { decision: 'approve' });
    const log = await tailed(session);
    expect(log.filter(({ type }) => type === 'PauseRaised')).toHaveLength(1);
    expect(fold(log)).toMatchObject({ terminal: true, resumes: 1 });
    expect(pool.ran).toEqual(['a', 'b']);
    await expect(session.verify()).resolves.toMatchObject({ ok: true });
    expect(await pool.apomesh.recovery.list()).toEqual([]);
  });

  it('with effects is listed, and goes on by an operator, who repeats none (R2, R4)', async () => {
    const pool = await recovering(memoryStores());
    const session = await pool.start(mode, goalOf(calls(['note', { text: 'a' }]), calls(['ask', { text: 'b' }])));
    const pause = await pauseOf(session);
    await lost(pool, session);
    expect(await pool.apomesh.recovery.scan()).toMatchObject([{ class: 'side-effects' }]);
    expect(await pool.apomesh.recovery.list()).toMatchObject([{ session: session.id, class: 'side-effects' }]);
    await expect(pool.apomesh.recovery.resume(session.id)).resolves.toMatchObject({ resume: 1, logged: true });
    expect(await pool.apomesh.recovery.list()).toEqual([]);
    await session.answer(pause, { decision: 'approve' });
    const log = await tailed(session);
    expect(fold(log)).toMatchObject({ terminal: true, resumes: 1 });
    expect(pool.ran).toEqual(['a', 'b']);
    await expect(pool.apomesh.recovery.resume(session.id)).rejects.toMatchObject({ code: 'SESSION_TERMINAL' });
  });
});

describe.each(modes)('a resumed session (%s)', (mode) => {
  it('that is reset in Temporal repeats no effect and asks the model for nothing again (W4)', async () => {
    const pool = await recovering(memoryStores());
    const steps = ['a', 'b', 'c'].map((text) => calls(['note', { text }]));
    const session = await pool.start(mode, goalOf(...steps, calls(['ask', { text: 'd' }])));
    const pause = await pauseOf(session);
    await lost(pool, session);
    await pool.apomesh.recovery.resume(session.id);
    await until(
      'it waits again',
      async () => (await pool.client.workflow.getHandle(session.id).query<SessionStatus>('status')).pauses.length > 0,
    );
    const { namespace } = pool.client.options;
    const reset = ['--workflow-id', session.id, '--event-id', '3', '--reason', 'a test', '--namespace', namespace];
    await temporalCli('workflow', 'reset', ...reset);
    await session.answer(pause, { decision: 'approve' });
    const log = await tailed(session);
    expect(fold(log)).toMatchObject({ terminal: true, resumes: 1 });
    expect(pool.ran).toEqual(['a', 'b', 'c', 'd']);
    expect(log.filter(({ type }) => type === 'GenerationCompleted')).toHaveLength(5);
    await expect(session.verify()).resolves.toMatchObject({ ok: true });
  });

  it('has one run: a resume while it is live is refused, and of several at once one wins (R5)', async () => {
    const pool = await recovering(memoryStores());
    const session = await pool.start(mode, goalOf(calls(['ask', { text: 'b' }])));
    const pause = await pauseOf(session);
    await expect(pool.apomesh.recovery.resume(session.id)).rejects.toMatchObject({ code: 'SESSION_LIVE' });
    await lost(pool, session);
    const results = await Promise.allSettled([1, 2, 3].map(() => pool.apomesh.recovery.resume(session.id)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await session.answer(pause, { decision: 'approve' });
    expect(fold(await tailed(session)).resumes).toBe(1);
    expect(pool.ran).toEqual(['b']);
  });
});

describe.each(modes)('a session that is terminated in the middle of an effect (%s)', (mode) => {
  it.each(['stubborn', 'obedient'])(
    'leaves it in doubt, whether its tool heeds the signal or not: %s (E4)',
    async (name) => {
      const pool = await recovering(memoryStores());
      const session = await pool.start(mode, goalOf(calls([name, { text: 'a' }])));
      await until('the effect has begun', () => pool.ran.length > 0);
      await pool.client.workflow.getHandle(session.id).terminate('by mistake');
      await until('the worker has heard of it', () => pool.ran.includes(`${name} was told`));
      await sleep(500);
      expect((await session.events()).filter(({ type }) => type === 'ToolCallCompleted')).toEqual([]);
      await pool.apomesh.recovery.resume(session.id);
      const pause = await pauseOf(session);
      expect(pause).toMatch(/^in-doubt/);
      await session.answer(pause, { decision: 'happened', result: 'a' });
      await expect(session.output()).resolves.toBe('done');
      expect(pool.ran.filter((text) => text === 'a')).toHaveLength(1);
    },
  );
});

describe('a boot scan', () => {
  it('runs when a worker starts, on a schedule too, and shows what it found (R1)', async () => {
    const stores = memoryStores();
    const pool = await recovering(stores, { recovery: { every: '1s' } });
    const session = await pool.start('loop', goalOf(calls(['look', { text: 'a' }]), calls(['ask', { text: 'b' }])));
    await pauseOf(session);
    await lost(pool, session);
    await until('it is resumed', async () => (await session.view()).resumes === 1);
    const shown = await pool.client.workflow.getHandle(RECOVERY_ID).describe();
    expect(shown.type).toBe('apomeshRecovery');
    await session.cancel();
    await tailed(session);
  });

  it('runs by itself where Temporal has lost the schedule with all else (R1)', async () => {
    const pool = await recovering(memoryStores(), { recovery: { every: '1s' } });
    const session = await pool.start('loop', goalOf(calls(['look', { text: 'a' }]), calls(['ask', { text: 'b' }])));
    await pauseOf(session);
    const schedule = pool.client.schedule.getHandle(RECOVERY_ID);
    await schedule.delete();
    await lost(pool, session);
    await until('it is resumed', async () => (await session.view()).resumes === 1);
    await expect(schedule.describe()).resolves.toMatchObject({ scheduleId: RECOVERY_ID });
    await session.cancel();
    await tailed(session);
  });

  it('leaves a session that a person ended (R2)', async () => {
    const pool = await recovering(memoryStores());
    const session = await pool.start('loop', goalOf(calls(['ask', { text: 'b' }])));
    await pauseOf(session);
    await pool.client.workflow.getHandle(session.id).terminate('enough');
    expect(await pool.apomesh.recovery.scan()).toMatchObject([{ class: 'closed' }]);
  });
});
