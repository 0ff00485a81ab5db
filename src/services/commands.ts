import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Whether a file is there and may be run. */
export async function isRunnable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/**
 * The file that a command's name stands for.
 *
 * @throws naming the command when no folder of PATH has it.
 */
export async function onPath(name: string, path = process.env['PATH'] ?? ''): Promise<string> {
  const names = process.platform === 'win32' ? [`${name}.exe`, `${name}.cmd`] : [name];
  for (const folder of path.split(delimiter).filter((part) => part !== '')) {
    for (const file of names) {
      if (await isRunnable(join(folder, file))) return join(folder, file);
    }
  }
  throw new Error(`it is not there`);
}

/** Runs a command to its end and gives its output. @throws with the last line it wrote when it fails. */
export function run(command: string, args: readonly string[], timeoutMs: number, cwd?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { timeout: timeoutMs, maxBuffer: 1 << 26, cwd }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout);
      const said = stderr.trim().split('\n').at(-1);
      reject(new Error(said === undefined || said === '' ? error.message : `${command}: ${said}`, { cause: error }));
    });
  });
}
