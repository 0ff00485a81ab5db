import { expect, it } from '@jest/globals';
import { unique } from '../support/pool.ts';
import { expectWhole, workOf } from './expectations.ts';
import { momentsOf, places, planOf } from './moments.ts';
import { onStage } from './stage.ts';

const LONGEST_MS = 170_000;

/** `CRASH_SEED=n` runs the moments of another seed; fresh ones are in the chaos runs and the crash schedules. */
const seed = Number(process.env['CRASH_SEED'] ?? 1);

it(
  'W1, W3, E3: a session is whole whenever its worker is killed',
  async () => {
    const plan = planOf(unique('crash'), places.length);
    const moments = momentsOf(seed, plan);
    await onStage({ workers: 2, timeoutMs: 2_000, moments, longestMs: LONGEST_MS }, async (stage) => {
      const [undisturbed, ...others] = await stage.run(planOf(unique('calm'), 2));
      const work = await workOf(stage, undisturbed!);
      const disturbed = await stage.run(plan);
      let losses = 0;
      for (const followed of [...others, ...disturbed]) losses += await expectWhole(stage, followed, work);
      process.stderr.write(`CRASH_SEED=${seed}: ${stage.crew.kills} workers killed, agents lost ${losses} times\n`);
      // A moment that is due a little later than its place can be forestalled by another session's.
      expect(stage.crew.hits().length).toBeGreaterThanOrEqual(moments.length - 2);
      expect(losses).toBeGreaterThanOrEqual(moments.length);
      expect(stage.crew.accidents).toEqual([]);
    });
  },
  LONGEST_MS + 30_000,
);
