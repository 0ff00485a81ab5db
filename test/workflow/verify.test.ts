import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineAgent, defineTool } from '../../src/index.ts';
import { openMongo, startPool } from '../support/pool.ts';
import { calls, goalModel, goalOf } from '../support/script.ts';

const modes = ['loop', 'call'] as const;
const STEPS = 10;
const SESSIONS = 2;

describe('verify', () => {
  it('L8: finds nothing wrong with a session at any moment while it goes on, and sees it grow', async () => {
    const note = defineTool({ name: 'note', description: 'Notes.', input: z.object({}), run: () => 'noted' });
    const agents = modes.map((dispatch) =>
      defineAgent({ name: dispatch, model: 'goals', instructions: '', tools: ['note'], dispatch }),
    );
    const pool = await startPool(
      { models: { goals: goalModel().model }, tools: [note], agents },
      { stores: openMongo() },
    );
    const goal = () => goalOf(...Array.from({ length: STEPS }, () => calls(['note'])));
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, (_, n) => pool.start(modes[n % 2] ?? 'loop', goal())),
    );
    await Promise.all(
      sessions.map(async (session) => {
        const lengths: number[] = [];
        for (let isOver = false; !isOver; ) {
          isOver = (await session.outcome()) !== null;
          const { problems, events } = await session.verify();
          expect(problems).toEqual([]);
          lengths.push(events);
        }
        expect(new Set(lengths).size).toBeGreaterThan(1);
        expect(lengths).toEqual(lengths.toSorted((a, b) => a - b));
      }),
    );
    await pool.stop();
  });
});
