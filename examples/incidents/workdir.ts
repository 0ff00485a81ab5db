import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The reports as they come with the example. */
const REPORTS = join(import.meta.dirname, 'reports');

/** The folder that the agent may read and write: APOMESH_WORKDIR, or `workdir` beside this file. */
export const workdir = resolve(process.env['APOMESH_WORKDIR'] ?? join(import.meta.dirname, 'workdir'));

/** Makes the folder, and puts the reports into it unless it has some. Several processes may do so at once. */
export function prepareWorkdir(dir: string = workdir): string {
  mkdirSync(dir, { recursive: true });
  const reports = join(dir, 'reports');
  if (existsSync(reports)) return dir;
  const copy = mkdtempSync(join(dirname(dir), '.reports-'));
  try {
    cpSync(REPORTS, copy, { recursive: true });
    renameSync(copy, reports);
  } catch (error) {
    rmSync(copy, { recursive: true, force: true });
    if (!existsSync(reports)) throw error;
  }
  return dir;
}
