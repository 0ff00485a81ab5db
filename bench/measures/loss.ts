import type { Bench } from '../bench.ts';
import { alone, atMost, type Figure } from '../figures.ts';
import type { HostProcess } from '../host-process.ts';
import { sides } from '../sides.ts';

const THRESHOLD_MS = 3_000;
/** More than will be run: the session is terminated once the figure is there. */
const STEPS = 1_000;
/** Of a generation, so that the kill comes in the middle of one. */
const LATENCY_MS = 200;

/**
 * Time from the loss of a worker (SIGKILL in the middle of a generation) to the next generation on another one, less the
 * threshold of heartbeat silence. The lost worker is the one that holds the workflow in its cache too: the worst case.
 */
export async function measureLoss(bench: Bench): Promise<Figure[]> {
  const runs = bench.quick ? 1 : 5;
  const figures: Figure[] = [];
  for (const side of ['loop-mongo', 'call-mongo'] as const) {
    bench.say(`loss: ${sides[side].name}`);
    const times: number[] = [];
    for (let run = 0; run < runs; run++) times.push((await lose(bench, side)) - THRESHOLD_MS);
    const measure = `lost worker to next step, beyond the threshold of ${THRESHOLD_MS / 1_000} s`;
    figures.push(alone(measure, sides[side].name, 'ms', times, (_, max) => atMost(max, 1_500, ' ms')));
  }
  return figures;
}

async function lose(bench: Bench, side: 'loop-mongo' | 'call-mongo'): Promise<number> {
  const taskQueue = bench.name(`loss-${side}`);
  const session = bench.name('lost');
  const open = () =>
    bench.host(side, { taskQueue, latencyMs: LATENCY_MS, heartbeatTimeoutMs: THRESHOLD_MS, tells: true });
  const first = await open();
  await first.start(session, STEPS);
  const second = await open();
  await nextGeneration(first);
  first.kill();
  const killedAt = performance.now();
  await nextGeneration(second);
  const ms = performance.now() - killedAt;
  await second.terminate(session);
  await bench.closeHosts();
  return ms;
}

const nextGeneration = (host: HostProcess): Promise<void> =>
  new Promise((resolve) => host.onGeneration(() => resolve()));
