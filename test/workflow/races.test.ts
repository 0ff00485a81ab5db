import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import type { ApomeshConfig } from '../../src/plugin/config.ts';
import type { Row, Stores } from '../../src/ports/store.ts';
import { bodyOf } from '../../src/session/digest.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { historyOf } from '../support/history.ts';
import { startPool, unique } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';

const tool = (name: string, more: Partial<Parameters<typeof defineTool>[0]> = {}) =>
  defineTool({ name, description: '', input: z.looseObject({}), run: () => `${name} is done`, ...more });

const configOf = (tools: NonNullable<ApomeshConfig['tools']>, more: ApomeshConfig = {}): ApomeshConfig => ({
  models: { goals: goalModel().model },
  tools,
  agents: (['loop', 'call'] as const).map((dispatch) =>
    defineAgent({
      name: `a-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: tools.map(({ name }) => name),
      dispatch,
    }),
  ),
  ...more,
});

/** A store in memory that does something else at the first write with a row of some kind. */
function storesAt(is: (row: Row) => boolean, act: (stores: Stores, rows: readonly Row[]) => Promise<number>): Stores {
  const stores = memoryStores();
  let isDone = false;
  const write = async (rows: readonly Row[]) => {
    if (isDone || !rows.some(is)) return stores.write(rows);
    isDone = true;
    return act(stores, rows);
  };
  return { ...stores, write };
}

describe('an answer', () => {
  it('H2, H3: counts where the one who logged it is lost before saying so', async () => {
    const isAnswer = (row: Row) => row.into === 'events' && row.envelope.type === 'PauseAnswered';
    const stores = storesAt(isAnswer, async (real, rows) => {
      await real.write(rows);
      throw new Error('the worker died');
    });
    const pool = await startPool(configOf([tool('pay', { approval: true })]), { stores });
    const session = await pool.start('a-loop', goalOf(calls(['pay'])));
    const { pause } = await until('it waits', async () => (await session.pauses())[0]);
    await session.answer(pause, { decision: 'approve' });
    expect(await session.output()).toBe('done');
  });

  it('H3: that comes just before its agent waits for others is acted on', async () => {
    const isWait = (row: Row) =>
      row.into === 'events' && row.envelope.type === 'AgentLifecycle' && row.envelope.data.phase === 'waiting';
    const stores = storesAt(isWait, async (real, rows) => {
      const [waiting] = rows.flatMap((row) => (row.into === 'events' ? [row.envelope] : []));
      const log = await real.read(waiting?.session ?? '');
      const [first] = log.flatMap((event) => (event.type === 'PauseRaised' ? [event] : []));
      if (!waiting || !first) throw new Error('nothing waits');
      const { pause } = first.data;
      const body = bodyOf({});
      const data = { pause, decision: 'approve', ref: body.ref };
      const id = `answered/${pause}`;
      const answered = { ...waiting, type: 'PauseAnswered', id, agent: first.agent, data } as const;
      await real.write([
        { into: 'bodies', session: waiting.session, ...body },
        { into: 'events', envelope: answered },
      ]);
      return real.write(rows);
    });
    const pool = await startPool(configOf([tool('pay', { approval: true })]), { stores });
    const session = await pool.start('a-loop', goalOf(calls(['pay', { to: 'ann' }], ['pay', { to: 'bob' }])));
    await until('the first is paid', async () =>
      (await session.events()).some(({ type }) => type === 'ToolCallCompleted'),
    );
    const [other] = await session.pauses();
    await session.answer(other?.pause ?? '', { decision: 'approve' });
    expect(await session.output()).toBe('done');
  });
});

describe('a call', () => {
  it('L7: for another pool does not carry its arguments through Temporal', async () => {
    const taskQueue = unique('far');
    const stores = memoryStores();
    const far = tool('far', { taskQueue });
    const near = await startPool(configOf([far]), { stores });
    await startPool({ tools: [far] }, { stores, taskQueue });
    const session = await near.start('a-loop', goalOf(calls(['far', { text: 'MARKER' }])));
    expect(await session.output()).toBe('done');
    expect((await historyOf(near.client, session.id)).text).not.toContain('MARKER');
  });

  it('W2: lives in a pool whose own heartbeat time-out is longer than the session asks for', async () => {
    const taskQueue = unique('slow');
    const stores = memoryStores();
    const slow = tool('slow', { taskQueue, run: () => sleep(4_000, 'slow is done') });
    const near = await startPool(configOf([slow], { limits: { heartbeatTimeout: '1s' } }), { stores });
    await startPool({ tools: [slow], limits: { heartbeatTimeout: '60s' } }, { stores, taskQueue });
    const session = await near.start('a-call', goalOf(calls(['slow'])));
    expect(await session.output()).toBe('done');
    expect((await session.events()).map(({ type }) => type)).not.toContain('AgentResuming');
  });

  it('E3: has an intent of its own for a try that comes more than a second later', async () => {
    let tries = 0;
    const busy = tool('busy', {
      retry: { maximumAttempts: 2, initialInterval: 1_200 },
      run: () => {
        tries += 1;
        if (tries === 1) throw new Error('busy');
        return 'through';
      },
    });
    const pool = await startPool(configOf([busy]));
    const session = await pool.start('a-loop', goalOf(calls(['busy'])));
    expect(await session.output()).toBe('done');
    expect((await session.events()).filter(({ type }) => type === 'ToolCallStarted')).toHaveLength(2);
    expect((await session.verify()).problems).toEqual([]);
  });

  it('E3: begins also where each write takes longer than an intent lasts', async () => {
    const real = memoryStores();
    const write: Stores['write'] = async (rows) => {
      const written = await real.write(rows);
      await sleep(1_100);
      return written;
    };
    const pool = await startPool(configOf([tool('pay')]), { stores: { ...real, write } });
    const session = await pool.start('a-loop', goalOf(calls(['pay'])));
    expect(await session.output()).toBe('done');
    expect((await session.verify()).problems).toEqual([]);
  });

  it.each(['loop', 'call'])('E2: of a tool with no name or an endless one is an error each time (%s)', async (mode) => {
    const pool = await startPool(configOf([tool('note')]));
    const asked = calls([''], ['x'.repeat(5_000)]);
    const session = await pool.start(`a-${mode}`, goalOf(asked, asked));
    expect(await session.output()).toBe('done');
    expect((await session.verify()).problems).toEqual([]);
  });
});

describe('a request to cancel', () => {
  it('H2: with a reason that no text can carry cancels all the same', async () => {
    const pool = await startPool(configOf([tool('pay', { approval: true })]));
    const session = await pool.start('a-loop', goalOf(calls(['pay'])));
    await until('it waits', async () => (await session.pauses())[0]);
    await pool.client.workflow.getHandle(session.id).signal('cancel', { reason: 'half \ud83d' });
    await until('it is over', async () => (await session.view()).terminal);
    expect((await session.outcome())?.phase).toBe('cancelled');
  });
});
