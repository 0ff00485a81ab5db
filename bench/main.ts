import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { Bench } from './bench.ts';
import type { Figure } from './figures.ts';
import { measureFlatness } from './measures/flatness.ts';
import { measureFold } from './measures/fold.ts';
import { measureLoss } from './measures/loss.ts';
import { measureRecovery } from './measures/recovery.ts';
import { measureSessions } from './measures/sessions.ts';
import { measureTraffic } from './measures/traffic.ts';
import { tableOf } from './report.ts';

const measures: Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>> = {
  sessions: measureSessions,
  traffic: measureTraffic,
  flatness: measureFlatness,
  loss: measureLoss,
  fold: measureFold,
  recovery: measureRecovery,
};

const USAGE = `npm run bench -- [--quick] [--only NAME ...] [--json]
  NAME is one of ${Object.keys(measures).join(', ')}.`;

function wanted(): { quick: boolean; json: boolean; names: readonly string[] } {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: Object.keys(measures) },
    },
  });
  const { quick, json, only: names } = values;
  const unknown = names.find((name) => !Object.hasOwn(measures, name));
  if (unknown !== undefined) throw new Error(`there is no measure ${unknown}`);
  return { quick, json, names };
}

function wantedOrUsage(): ReturnType<typeof wanted> {
  try {
    return wanted();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}\n`);
    process.exit(2);
  }
}

const machine = () =>
  `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}, ` +
  `${process.platform} ${process.arch}`;

async function main(): Promise<void> {
  const { quick, json, names } = wantedOrUsage();
  const bench = await Bench.open({ quick, say: (line) => process.stderr.write(`${line}\n`) });
  const stop = () => void bench.close().finally(() => process.exit(130));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const figures: Figure[] = [];
  try {
    for (const name of names) figures.push(...((await measures[name]?.(bench)) ?? []));
  } finally {
    await bench.close();
  }
  if (json) process.stdout.write(`${JSON.stringify({ machine: machine(), quick, figures })}\n`);
  else process.stdout.write(`${machine()}${quick ? ', quick' : ''}\n\n${tableOf(figures)}\n`);
}

await main();
