import type { Bench } from '../bench.ts';
import { atLeast, atMost, compared, type Figure } from '../figures.ts';
import type { RunRequest, RunResult } from '../host-messages.ts';
import type { HostProcess } from '../host-process.ts';
import { type Side, sideNames } from '../sides.ts';

const STEPS = 20;
const AT_ONCE = 32;

type Runs = ReadonlyMap<Side, readonly RunResult[]>;

/** Sessions of no step and of 20 steps, one after the other and 32 at once: time, processor, memory, history. */
export async function measureSessions(bench: Bench): Promise<Figure[]> {
  const hosts = new Map<Side, HostProcess>();
  for (const side of sideNames) hosts.set(side, await bench.host(side));
  const rounds = bench.quick ? { alone: 3, crowds: 1 } : { alone: 11, crowds: 3 };
  const runs = async (what: string, times: number, request: RunRequest): Promise<Runs> => {
    bench.say(`sessions: ${what}`);
    return inTurns(hosts, times, request);
  };
  await runs('warming up', 1, { sessions: bench.quick ? 16 : 40, atOnce: 8, steps: STEPS });
  const none = await runs('of no step', rounds.alone, { sessions: 1, atOnce: 1, steps: 0 });
  const alone = await runs(`of ${STEPS} steps, alone`, rounds.alone, { sessions: 1, atOnce: 1, steps: STEPS });
  const crowd = { sessions: AT_ONCE * (bench.quick ? 1 : 2), atOnce: AT_ONCE, steps: STEPS };
  const crowds = await runs(`of ${STEPS} steps, ${AT_ONCE} at once`, rounds.crowds, crowd);
  await bench.closeHosts();
  return [...timeFigures(none, alone, crowds, crowd.sessions), ...costFigures(alone, crowds, crowd.sessions)];
}

/** Round by round, so that what else the machine does meets all sides alike. */
async function inTurns(hosts: ReadonlyMap<Side, HostProcess>, times: number, request: RunRequest): Promise<Runs> {
  const results = new Map<Side, RunResult[]>([...hosts.keys()].map((side) => [side, []]));
  for (let round = 0; round < times; round++) {
    for (const [side, host] of hosts) results.get(side)?.push(await host.run(request));
  }
  return results;
}

const valuesOf = (runs: Runs, value: (result: RunResult) => number): Map<Side, number[]> =>
  new Map([...runs].map(([side, results]) => [side, results.map(value)]));

function timeFigures(none: Runs, alone: Runs, crowds: Runs, sessions: number): Figure[] {
  return [
    ...compared(
      'time of a session of no step',
      'ms',
      'as fast',
      valuesOf(none, ({ ms }) => ms),
    ),
    ...compared(
      `time of a session of ${STEPS} steps, alone`,
      'ms',
      'as fast',
      valuesOf(alone, ({ ms }) => ms),
      {
        'loop-mongo': (ratio) => atLeast(ratio, 4),
        'loop-memory': (ratio) => atLeast(ratio, 10),
        'call-mongo': (ratio) => atMost(1 / ratio, 1.3, '× its time'),
        'call-memory': (ratio) => atMost(1 / ratio, 1.3, '× its time'),
      },
    ),
    ...compared(
      `sessions of ${STEPS} steps, ${AT_ONCE} at once`,
      'a second',
      'as many',
      valuesOf(crowds, ({ ms }) => (sessions * 1_000) / ms),
      { 'loop-mongo': (ratio) => atLeast(ratio, 1.5), 'loop-memory': (ratio) => atLeast(ratio, 8) },
    ),
  ];
}

function costFigures(alone: Runs, crowds: Runs, sessions: number): Figure[] {
  const third = (ratio: number) => atMost(ratio, 0.33);
  return [
    ...compared(
      'processor time of a session, alone',
      'ms',
      'of it',
      valuesOf(alone, ({ cpuMs }) => cpuMs),
      {
        'loop-mongo': third,
        'loop-memory': third,
      },
    ),
    ...compared(
      `processor time of a session, ${AT_ONCE} at once`,
      'ms',
      'of it',
      valuesOf(crowds, ({ cpuMs }) => cpuMs / sessions),
      { 'loop-mongo': third, 'loop-memory': third },
    ),
    ...compared(
      `memory at its peak, ${AT_ONCE} at once`,
      'MB',
      'of it',
      valuesOf(crowds, ({ rss }) => rss.peak / 1e6),
    ),
    ...compared(
      `memory gained, ${AT_ONCE} at once`,
      'MB',
      'of it',
      valuesOf(crowds, ({ rss }) => (rss.peak - rss.before) / 1e6),
    ),
    ...compared(
      'history of a session',
      'events',
      'of it',
      valuesOf(alone, ({ history }) => history.events),
      {
        'loop-mongo': (_, median) => atMost(median, 20, ' events'),
        'loop-memory': (_, median) => atMost(median, 20, ' events'),
      },
    ),
    ...compared(
      'history of a session',
      'KB',
      'of it',
      valuesOf(alone, ({ history }) => history.bytes / 1e3),
    ),
  ];
}
