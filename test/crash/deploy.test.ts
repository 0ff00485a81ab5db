import { expect, it } from '@jest/globals';
import { unique } from '../support/pool.ts';
import { expectWhole, workOf } from './expectations.ts';
import { planOf } from './moments.ts';
import { onStage } from './stage.ts';
import { linesOf } from './work.ts';

const LONGEST_MS = 90_000;
const WORKERS = 3;

it(
  'W5: three workers replaced one after the other while sessions run: no fence, no doubt, and nothing twice',
  async () => {
    const options = { workers: WORKERS, timeoutMs: 10_000, paceMs: 250, moments: [], longestMs: LONGEST_MS };
    await onStage(options, async (stage) => {
      const plan = planOf(unique('deploy'), 10);
      const running = stage.run(plan);
      await stage.crew.relieve();
      const isOver = (session: string) => stage.seen(session).some(({ id }) => id === `end/${session}/root-1`);
      expect([...plan.keys()].filter(isOver).length).toBeLessThan(plan.size);
      const sessions = await running;
      const [undisturbed] = await stage.run(planOf(unique('calm'), 1));
      const work = await workOf(stage, undisturbed!);
      const releases: string[] = [];
      for (const followed of sessions) {
        expect(await expectWhole(stage, followed, work)).toBe(0);
        const types = followed.seen.map(({ type }) => type);
        expect(types).not.toContain('PauseRaised');
        releases.push(...followed.seen.flatMap(({ type, data }) => (type === 'AgentSnapshot' ? [data.source] : [])));
      }
      expect(releases).toContain('release');
      const pids = [...plan.keys()].flatMap((session) => linesOf(stage.folder, session).map(({ pid }) => pid));
      expect(new Set(pids).size).toBeGreaterThan(WORKERS);
      expect(stage.crew.accidents).toEqual([]);
      expect(stage.crew.kills).toBe(0);
    });
  },
  LONGEST_MS + 30_000,
);
