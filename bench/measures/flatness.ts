import type { Bench } from '../bench.ts';
import { atMost, type Figure } from '../figures.ts';
import type { HostProcess } from '../host-process.ts';
import { sides } from '../sides.ts';
import { summary } from '../stats.ts';

const EARLY = 20;
/** Steps on either side that a step's time is the median of. */
const AROUND = 10;

/** Whether a step late in a session costs what an early one does. */
export async function measureFlatness(bench: Bench): Promise<Figure[]> {
  const late = bench.quick ? 150 : 500;
  const runs = bench.quick ? 1 : 3;
  const figures: Figure[] = [];
  for (const side of ['loop-mongo', 'loop-memory', 'call-mongo'] as const) {
    bench.say(`flatness: ${sides[side].name}`);
    const host = await bench.host(side);
    await host.run({ sessions: 2, atOnce: 1, steps: EARLY });
    const times: { early: number; late: number }[] = [];
    for (let run = 0; run < runs; run++) times.push(await stepTimes(host, late));
    await bench.closeHosts();
    const of = sides[side].name;
    const ratio = summary(times.map((time) => time.late / time.early)).median;
    const measure = `time of a step (ratio: step ${late} to step ${EARLY})`;
    figures.push(
      {
        measure,
        of: `${of}, step ${EARLY}`,
        unit: 'ms',
        value: summary(times.map(({ early }) => early)),
        ratio: null,
        aim: null,
      },
      {
        measure,
        of: `${of}, step ${late}`,
        unit: 'ms',
        value: summary(times.map((time) => time.late)),
        ratio,
        aim: atMost(ratio, 1.3),
      },
    );
  }
  return figures;
}

async function stepTimes(host: HostProcess, late: number): Promise<{ early: number; late: number }> {
  const { generations } = await host.run({ sessions: 1, atOnce: 1, steps: late + AROUND });
  const steps = generations.slice(1).map((at, index) => at - (generations[index] as number));
  const around = (step: number) => summary(steps.slice(step - AROUND, step + AROUND)).median;
  return { early: around(EARLY), late: around(late) };
}
