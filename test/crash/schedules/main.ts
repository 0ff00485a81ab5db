import { parseArgs } from 'node:util';
import { type CrashRun, crashSchedules } from '../../../src/testing.ts';
import { scene } from './scene.ts';

const USAGE = 'npm run crash -- [--runs N] [--seed S] [--trace]';

/** Plays crash schedules from the command line; exits 1 where one breaks something. */
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    trace: { type: 'boolean', default: false },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (!Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

let faults = 0;
const onPlayed = (played: CrashRun) => {
  faults += played.faults;
  if (values.trace) process.stdout.write(`${played.trace.join('\n')}\n`);
  for (const broken of played.broken) process.stderr.write(`${broken}\n`);
  if (played.broken.length > 0) process.stderr.write(`npm run crash -- --seed ${played.seed} --runs 1 --trace\n`);
};
const start = performance.now();
const broken = await crashSchedules(scene, { runs, seed, onPlayed });
const seconds = ((performance.now() - start) / 1000).toFixed(1);
process.stderr.write(
  `${runs} crash schedules from seed ${seed}: ${faults} faults, ${broken.length} broken, ${seconds} s\n`,
);
process.exitCode = broken.length > 0 ? 1 : 0;
