import { expect, it } from '@jest/globals';
import { unique } from '../support/pool.ts';
import { until } from '../support/until.ts';
import { expectWhole, workOf } from './expectations.ts';
import { type Moment, type Place, planOf } from './moments.ts';
import { onStage } from './stage.ts';
import { linesOf } from './work.ts';

const LONGEST_MS = 120_000;

/** Where the worker of a session in dispatch `loop` and the one of a session in dispatch `call` stand still. */
const waves: readonly (readonly [Place, Place])[] = [
  ['effect begun', 'effect begun'],
  ['effect done', 'intent acknowledged'],
  ['outcome unsent', 'generation'],
];

it(
  'W4, E4: what a worker that stood still does late is evidence, and nothing happens twice',
  async () => {
    const plans = waves.map(() => planOf(unique('freeze'), 2));
    const moments = waves.flatMap((wave, i) =>
      [...plans[i]!.keys()].map((session, k): Moment => {
        return { session, place: wave[k]!, from: 2 + 3 * k, afterMs: 0, otherAfterMs: null, signal: 'SIGSTOP' };
      }),
    );
    await onStage({ workers: 3, apart: true, timeoutMs: 4_000, moments, longestMs: LONGEST_MS }, async (stage) => {
      const [undisturbed] = await stage.run(planOf(unique('calm'), 1));
      const work = await workOf(stage, undisturbed!);
      for (const plan of plans) {
        const thawing = Promise.all([...plan.keys()].map((session) => stage.thaw(session)));
        const [frozen] = await Promise.all([stage.run(plan), thawing]);
        for (const followed of frozen) expect(await expectWhole(stage, followed, work)).toBeGreaterThan(0);
      }
      for (const session of plans[0]!.keys()) {
        const written = linesOf(stage.folder, session).filter(({ pid }) => pid === stage.crew.hit(session));
        await until(`what was late in ${session} is kept`, async () => {
          const late = await stage.stores.evidence(session);
          return late.some(({ key, outcome }) => outcome === 'ok' && written.some((line) => line.key === key));
        });
      }
      expect(stage.crew.accidents).toEqual([]);
    });
  },
  LONGEST_MS + 30_000,
);
