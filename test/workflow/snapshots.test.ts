import { beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, type Envelope } from '../../src/index.ts';
import type { Row } from '../../src/ports/store.ts';
import { bodyDigest } from '../../src/session/digest.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { type Pool, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const goals = goalModel();

/** Writes of each session, by the types of the events in them. */
const writes = new Map<string, string[][]>();

let pool: Pool;
beforeAll(async () => {
  const note = defineTool({
    name: 'note',
    description: 'Notes.',
    input: z.object({ n: z.number() }),
    run: () => 'noted',
  });
  const agents = modes.map((dispatch) =>
    defineAgent({
      name: `goals-${dispatch}`,
      model: 'goals',
      instructions: '',
      tools: ['note', 'checkpoint_now'],
      dispatch,
    }),
  );
  const stores = memoryStores();
  const write = (rows: readonly Row[]) => {
    const events = rows.flatMap((row) => (row.into === 'events' ? [row.envelope] : []));
    const session = events[0]?.session ?? '';
    writes.set(session, [...(writes.get(session) ?? []), events.map(({ type }) => type)]);
    return stores.write(rows);
  };
  pool = await startPool({ models: { goals: goals.model }, tools: [note], agents }, { stores: { ...stores, write } });
});

const ofType = <T extends Envelope['type']>(events: readonly Envelope[], type: T) =>
  events.filter((event): event is Extract<Envelope, { type: T }> => event.type === type);

describe.each(modes)('an agent driven by %s that saves a checkpoint of its own', (mode) => {
  it('C1, E6: has a snapshot for each node in which it asks, applied under the keys of its calls, and is told which', async () => {
    const goal = goalOf(
      calls(['checkpoint_now']),
      calls(['note', { n: 1 }], ['checkpoint_now'], ['checkpoint_now']),
      calls(['checkpoint_now', { wrong: 1 }]),
      calls(['note', { n: 2 }]),
    );
    const session = await pool.start(`goals-${mode}`, goal);
    expect(await session.output()).toBe('done');
    const events = await session.events();
    expect(ofType(events, 'AgentSnapshot').map(({ data }) => [data.ordinal, data.node, data.source])).toEqual([
      [1, 1, 'explicit'],
      [2, 1, 'node'],
      [3, 2, 'explicit'],
      [4, 2, 'node'],
      [5, 3, 'node'],
      [6, 4, 'node'],
    ]);
    const applied = ofType(events, 'Applied');
    expect(applied.map(({ data }) => [data.op, data['snapshot']])).toEqual([
      ['checkpoint.now', 1],
      ['checkpoint.now', 3],
      ['checkpoint.now', 3],
    ]);
    const done = ofType(events, 'ToolCallCompleted').filter(({ data }) => data.class === 'orchestrator');
    expect(done.map(({ data }) => data.outcome)).toEqual(['ok', 'ok', 'ok', 'error']);
    expect(new Set(applied.map(({ data }) => data.key))).toEqual(new Set(done.slice(0, 3).map(({ data }) => data.key)));
    expect(done.slice(0, 3).map(({ data }) => data.ref.digest)).toEqual(
      [1, 3, 3].map((snapshot) => bodyDigest({ snapshot })),
    );
    expect(ofType(events, 'ToolCallStarted')).toHaveLength(2);
    expect((await session.view()).applied).toEqual(applied.map(({ data }) => data.key));
    expect((await session.verify()).problems).toEqual([]);
  });

  it('W0: costs no write beyond that of its outcome', async () => {
    const session = await pool.start(`goals-${mode}`, goalOf(calls(['checkpoint_now']), calls(['checkpoint_now'])));
    expect(await session.output()).toBe('done');
    const outcome = ['AgentSnapshot', 'Applied', 'ToolCallCompleted', 'AgentSnapshot'];
    const withOutcome = writes.get(session.id)?.filter((types) => types.includes('Applied'));
    expect(withOutcome).toEqual([outcome, outcome]);
  });
});
