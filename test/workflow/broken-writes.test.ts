import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool, type Envelope } from '../../src/index.ts';
import type { Row, Stores } from '../../src/ports/store.ts';
import { memoryStores } from '../../src/stores/memory/stores.ts';
import { startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;

/**
 * A store that breaks off in the middle of a write, once: as when a worker dies there, what comes before the row is in
 * place and nobody is told.
 */
function breakingAt(isThere: (envelope: Envelope) => boolean): Stores & { broken: number } {
  const stores = memoryStores();
  const breaking = {
    ...stores,
    broken: 0,
    write: async (rows: readonly Row[]) => {
      const at = rows.findIndex((row) => row.into === 'events' && isThere(row.envelope));
      if (at < 0 || breaking.broken > 0) return stores.write(rows);
      breaking.broken += 1;
      await stores.write(rows.slice(0, at));
      throw new Error('the worker died');
    },
  };
  return breaking;
}

const places: Readonly<Record<string, (envelope: Envelope) => boolean>> = {
  'its birth and its first phase': ({ type, data }) => type === 'AgentLifecycle' && data.phase === 'running',
  'a generation and the intent of its call': ({ type }) => type === 'ToolCallStarted',
  'an outcome and its snapshot': ({ type, data }) => type === 'AgentSnapshot' && data.node === 1,
  'a generation that does not fit and its snapshot': ({ type, data }) => type === 'AgentSnapshot' && data.node === 2,
  'the last generation and the end': ({ type, data }) => type === 'AgentLifecycle' && data.phase === 'completed',
};

describe.each(modes)('a write of an agent driven by %s that breaks off', (dispatch) => {
  it.each(Object.keys(places))(
    'E5, F3: between %s: nothing is asked or done twice, and the output is there',
    async (place) => {
      const stores = breakingAt(places[place] as (envelope: Envelope) => boolean);
      let noted = 0;
      const note = defineTool({
        name: 'note',
        description: 'Notes.',
        input: z.object({}),
        run: () => {
          noted += 1;
          return noted;
        },
      });
      const goals = goalModel();
      const output = z.object({ n: z.number() });
      const agents = [defineAgent({ name: 'a', model: 'goals', instructions: '', tools: ['note'], dispatch, output })];
      const pool = await startPool({ models: { goals: goals.model }, tools: [note], agents }, { stores });
      const goal = goalOf(calls(['note']), { text: 'one' }, { text: '{"n":1}' });
      const session = await pool.start('a', goal);
      expect(await session.output()).toEqual({ n: 1 });
      expect(stores.broken).toBe(1);
      expect(noted).toBe(1);
      expect(goals.prompts(goal)).toHaveLength(3);
      const outcomes = (await session.events()).flatMap(({ type, data }) =>
        type === 'ToolCallCompleted' ? [data.outcome] : [],
      );
      expect(outcomes).toEqual(['ok']);
      expect((await session.verify()).problems).toEqual([]);
      await pool.stop();
    },
  );
});
