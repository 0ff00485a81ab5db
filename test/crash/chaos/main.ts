import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';
import { summaryOf } from './summary.ts';

const USAGE = 'npm run chaos -- [--minutes 10] [--seed N] [--sessions 50] [--workers 3] [--quiet]';

function given() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      seed: { type: 'string', default: `${Date.now() % 1_000_000}` },
      sessions: { type: 'string', default: '50' },
      workers: { type: 'string', default: '3' },
      quiet: { type: 'boolean', default: false },
    },
  });
  const { quiet, ...texts } = values;
  const numbers = Object.entries(texts).map(([name, text]) => {
    const number = Number(text);
    if (!Number.isFinite(number) || number < 0) throw new Error(`--${name} is a number`);
    return [name, number] as const;
  });
  return { quiet, ...(Object.fromEntries(numbers) as Record<keyof typeof texts, number>) };
}

function givenOrUsage(): ReturnType<typeof given> {
  try {
    return given();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
}

const { quiet, ...options } = givenOrUsage();
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) process.once(signal, () => stop.abort());
const began = Date.now();
const say = (line: string) => {
  if (!quiet) process.stderr.write(`${((Date.now() - began) / 1_000).toFixed(1).padStart(6)}  ${line}\n`);
};
say(`seed ${options.seed}`);
const report = await runChaos({ ...options, say, signal: stop.signal }).catch((error: unknown) => {
  if (stop.signal.aborted) process.exit(130);
  throw error;
});
process.stdout.write(`${summaryOf(report)}\n`);
if (report.broken.length > 0) {
  const { seed, minutes, sessions, workers } = options;
  const again = `npm run chaos -- --seed ${seed} --minutes ${minutes} --sessions ${sessions} --workers ${workers}`;
  process.stdout.write(`Again: ${again}\n`);
  process.exitCode = 1;
}
if (process.connected) process.disconnect();
