import { expect, it } from '@jest/globals';
import { unique } from '../support/pool.ts';
import { expectWhole, workOf } from './expectations.ts';
import { momentsOf, type Plan, places } from './moments.ts';
import { Stage } from './stage.ts';

const SESSIONS = 10;
const LONGEST_MS = 150_000;

/** `CRASH_SEED=n` runs the moments of one seed again. */
const given = process.env['CRASH_SEED'];
const seeds = given === undefined ? [1, Date.now() % 1_000_000] : [Number(given)];

const planOf = (name: string, count: number): Plan =>
  new Map(Array.from({ length: count }, (_, i) => [`${name}-${i}`, i % 2 === 0 ? 'loop' : 'call']));

it.each(seeds)(
  'W1, W3, E3: a session is whole whenever its worker is killed (CRASH_SEED=%i)',
  async (seed) => {
    const plan = planOf(unique('crash'), SESSIONS);
    const moments = momentsOf(seed, plan);
    const signal = AbortSignal.timeout(LONGEST_MS);
    const stage = await Stage.open({ workers: 2, timeoutMs: 2_000, moments, signal });
    let isWhole = false;
    try {
      const disturbed = await stage.run(plan);
      const [undisturbed, ...others] = await stage.run(planOf(unique('calm'), 2));
      const work = await workOf(stage, undisturbed!);
      for (const followed of [...others, ...disturbed]) await expectWhole(stage, followed, work);
      const hits = stage.crew.hits().map(({ moment }) => moment);
      expect(hits).toEqual(moments);
      expect(new Set(hits.map(({ place }) => place))).toEqual(new Set(places));
      expect(stage.crew.accidents).toEqual([]);
      isWhole = true;
    } finally {
      if (!isWhole) await stage.export();
      process.stderr.write(`${isWhole ? 'whole' : `not whole: see ${stage.folder}`}, CRASH_SEED=${seed}\n`);
      await stage.close({ keep: !isWhole });
    }
  },
  LONGEST_MS + 30_000,
);
