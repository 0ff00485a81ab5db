import { readFileSync, rmSync } from 'node:fs';
import { crashSchedules } from 'apomesh/testing';
import config from './apomesh.config.ts';

const ledger = process.env.REFUNDS_FILE ?? 'crash-refunds.jsonl';

const broken = await crashSchedules(
  () => {
    rmSync(ledger, { force: true });
    return {
      config,
      agent: 'refunds',
      goal: 'Refund order A-17, 240 EUR.',
      realWork: true,
      check: ({ events }) => {
        const lines = readFileSync(ledger, { encoding: 'utf8', flag: 'a+' }).trim().split('\n');
        const retries = events.filter(({ type, data }) => type === 'PauseAnswered' && data.decision === 'retry');
        return lines.length > 1 + retries.length ? [`refunded ${lines.length} times`] : [];
      },
    };
  },
  { runs: Number(process.argv[2] ?? 200) },
);
for (const { seed, broken: what } of broken) console.log(`seed ${seed}: ${what.join(', ')}`);
console.log(
  broken.length === 0 ? 'Refunded once at most, unless a person said so.' : `${broken.length} schedules broke it.`,
);
rmSync(ledger, { force: true });
