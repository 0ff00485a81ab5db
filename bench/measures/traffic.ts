import type { Bench } from '../bench.ts';
import { alone, atMost, type Figure } from '../figures.ts';
import type { HostProcess } from '../host-process.ts';
import { type Side, sides } from '../sides.ts';
import type { Traffic } from '../traffic.ts';

const SHORT = 20;
const LONG = 60;

/** What goes to MongoDB for a session of no step and for each step: the difference of a long session and a short one. */
export async function measureTraffic(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const side of ['loop-mongo', 'call-mongo'] as const) {
    bench.say(`traffic: ${sides[side].name}`);
    const host = await bench.host(side, { counted: true });
    await trafficOf(host, 2);
    const [none, short, long] = [await trafficOf(host, 0), await trafficOf(host, SHORT), await trafficOf(host, LONG)];
    figures.push(...figuresOf(side, none, short, long));
    await bench.closeHosts();
  }
  return figures;
}

async function trafficOf(host: HostProcess, steps: number): Promise<Traffic> {
  const { traffic } = await host.run({ sessions: 1, atOnce: 1, steps });
  if (traffic === null) throw new Error('the host does not count');
  return traffic;
}

const all = ({ commands }: Traffic): number => Object.values(commands).reduce((sum, n) => sum + n, 0);
const bulks = ({ commands }: Traffic): number => commands['bulkWrite'] ?? 0;

function figuresOf(side: Side, none: Traffic, short: Traffic, long: Traffic): Figure[] {
  const { name } = sides[side];
  const isLoop = sides[side].dispatch === 'loop';
  const step = (value: (traffic: Traffic) => number) => [(value(long) - value(short)) / (LONG - SHORT)];
  const parts = (what: string, values: (value: (traffic: Traffic) => number) => number[], aimed: boolean): Figure[] => [
    alone(what, name, 'ordered bulk writes', values(bulks), aimed ? (n) => atMost(n, 2, '') : undefined),
    alone(what, name, 'commands in all', values(all)),
    alone(
      what,
      name,
      'documents',
      values(({ documents }) => documents),
      aimed ? (n) => atMost(n, 8, '') : undefined,
    ),
    alone(
      what,
      name,
      'KB both ways',
      values(({ bytes }) => bytes / 1e3),
    ),
  ];
  return [
    ...parts('MongoDB, each step', step, isLoop),
    ...parts('MongoDB, a session of no step', (value) => [value(none)], false),
  ];
}
