import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fold } from '../../src/session/fold.ts';
import type { SessionView } from '../../src/session/view.ts';
import type { Bench } from '../bench.ts';
import { alone, atMost, type Figure } from '../figures.ts';
import { logOf } from '../log.ts';

const ENVELOPES = 100_000;
const MEGABYTE = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Folding a long log in memory (F1): how long it takes, and what the log and its view hold. */
export async function measureFold(bench: Bench): Promise<Figure[]> {
  bench.say('fold');
  const empty = heapInUse();
  const log = logOf('long', ENVELOPES);
  const read = heapInUse();
  const times: number[] = [];
  const views: SessionView[] = [];
  for (let run = 0; run < 7; run++) {
    const began = performance.now();
    views.push(fold(log));
    times.push(performance.now() - began);
  }
  const view = (heapInUse() - read) / views.length;
  const measure = `fold of ${log.length.toLocaleString('en')} envelopes`;
  return [
    alone(measure, 'fold', 'ms', times, (ms) => atMost(ms, 500, ' ms')),
    alone(measure, 'memory of the envelopes', 'MB', [(read - empty) / MEGABYTE]),
    alone(measure, 'memory of the view', 'MB', [view / MEGABYTE], (mb) => atMost(mb, 10, ' MB')),
  ];
}

/** Bytes of the heap that are in use. */
function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
