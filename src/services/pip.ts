import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { onPath, run } from './commands.ts';
import type { Say } from './service.ts';

const INSTALL_TIMEOUT_MS = 10 * 60_000;

/** Where a wheel's files are. */
export interface Wheel {
  /** Folder with its modules, for PYTHONPATH. */
  readonly modules: string;
  /** The Python it was installed with. */
  readonly python: string;
  /** A command it brings. */
  script(name: string): string;
}

const folderOf = (folder: string, requirement: string): string => join(folder, 'pip', requirement.replace('==', '-'));

/** @throws where a wheel is installed already, so that a download need not be tried again at each start. */
export async function assertNoWheel(folder: string, requirement: string): Promise<void> {
  if (await exists(folderOf(folder, requirement))) throw new Error(`${requirement} is installed already`);
}

/**
 * Installs one wheel (`name==version`) into a folder of its own under `folder`, never into the system's Python. A wheel
 * that is there already is used as it is.
 *
 * @throws where there is no Python, no pip and no venv, or pip fails.
 */
export async function installWheel(folder: string, requirement: string, say: Say): Promise<Wheel> {
  const python = await onPath('python3').catch(() => onPath('python'));
  const modules = folderOf(folder, requirement);
  const wheel = { modules, python, script: (name: string) => join(modules, 'bin', name) };
  if (await exists(modules)) return wheel;
  say(`installing ${requirement} from PyPI into ${modules}`);
  const fresh = `${modules}.${randomUUID()}`;
  await mkdir(join(folder, 'pip'), { recursive: true });
  try {
    const pip = await pipOf(python, `${fresh}.venv`);
    await run(
      pip,
      ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-input', '--target', fresh, requirement],
      INSTALL_TIMEOUT_MS,
    );
    await moveInto(modules, fresh);
  } finally {
    await rm(fresh, { recursive: true, force: true });
    await rm(`${fresh}.venv`, { recursive: true, force: true });
  }
  return wheel;
}

/** A Python that has pip: the given one, or that of a virtual environment made for it. */
async function pipOf(python: string, venv: string): Promise<string> {
  const given = await run(python, ['-m', 'pip', '--version'], 60_000).then(
    () => true,
    () => false,
  );
  if (given) return python;
  await run(python, ['-m', 'venv', venv], INSTALL_TIMEOUT_MS);
  return join(venv, 'bin', 'python');
}

/** Another process may have put the same wheel there first: then its copy is as good. */
async function moveInto(place: string, fresh: string): Promise<void> {
  await rename(fresh, place).catch(async (error: unknown) => {
    if (!(await exists(place))) throw error;
  });
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
