import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const run = promisify(execFile);
const main = fileURLToPath(new URL('./schedules/main.ts', import.meta.url));
const LONGEST_MS = 600_000;

/** Half of them are the same each time. */
const FIXED = 1;
const RUNS = 5_000;

async function crash(seed: number, runs: number, ...more: string[]): Promise<{ stdout: string; stderr: string }> {
  const args = ['--conditions=apomesh:source', main, '--seed', String(seed), '--runs', String(runs), ...more];
  const options = { maxBuffer: 64 * 1024 * 1024 };
  return run(process.execPath, args, options).catch(({ stdout, stderr }) => ({ stdout, stderr }));
}

it.each([FIXED, Date.now() % 1_000_000_000])(
  'L6, F1, E3, E4, W4: no crash schedule loses an event or makes an effect happen twice (npm run crash -- --seed %i)',
  async (seed) => {
    const { stderr } = await crash(seed, RUNS);
    process.stderr.write(stderr);
    expect(stderr).toMatch(/\d+ faults, 0 broken, [\d.]+ s\n$/);
  },
  LONGEST_MS,
);

it('plays the same schedule again from the same seed', async () => {
  const [one, other] = await Promise.all([crash(FIXED, 100, '--trace'), crash(FIXED, 100, '--trace')]);
  expect(one.stdout).toContain('crash-before');
  expect(one.stdout.length).toBeGreaterThan(100_000);
  expect(other.stdout).toBe(one.stdout);
});
