import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createJiti } from 'jiti';
import { ConfigInvalidError } from '../contract/errors.ts';
import { parseConfig, type ResolvedConfig } from './config.ts';

/** Names looked for in a folder, in this order. */
const NAMES = ['apomesh.config.ts', 'apomesh.config.mts', 'apomesh.config.mjs', 'apomesh.config.js'];

/**
 * Loads and checks a config: the file given, or `apomesh.config.{ts,mts,mjs,js}` of the folder. Imports of `apomesh` in it
 * give the modules of this very process.
 *
 * @throws {ConfigInvalidError} naming the file: there is none, it does not load, has no default export, or is wrong.
 */
export async function loadConfig({ file, cwd }: { file?: string; cwd: string }): Promise<ResolvedConfig> {
  const path = file === undefined ? await findConfig(cwd) : resolve(cwd, file);
  if (path === null) {
    const why = `there is none of ${NAMES.join(', ')} here; write one, or give its path with --config.`;
    throw new ConfigInvalidError('(file)', why, cwd);
  }
  if (!(await exists(path))) throw new ConfigInvalidError('(file)', 'there is no such file; check --config.', path);
  return parseConfig(await loadModule(path, 'defineConfig'), path);
}

/** The config file of a folder; null where it has none. */
export async function findConfig(cwd: string): Promise<string | null> {
  for (const name of NAMES) {
    if (await exists(join(cwd, name))) return join(cwd, name);
  }
  return null;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/**
 * What a file of TypeScript or JavaScript has as its default export.
 *
 * @param made what it should be made with, for messages.
 * @throws {ConfigInvalidError}
 */
export async function loadModule(path: string, made: string): Promise<unknown> {
  const [main, testing] = await Promise.all([import('../index.ts'), import('../testing.ts')]);
  const jiti = createJiti(path, {
    interopDefault: false,
    fsCache: false,
    virtualModules: { apomesh: main, 'apomesh/testing': testing },
  });
  const module: unknown = await jiti.import(path).catch((error: unknown) => {
    if (error instanceof ConfigInvalidError) throw error;
    throw new ConfigInvalidError('(file)', `does not load: ${whyOf(error, path)}`, path);
  });
  if (typeof module === 'object' && module !== null && 'default' in module) return module.default;
  throw new ConfigInvalidError('(file)', `has no default export; write export default ${made}({...}).`, path);
}

/** What went wrong, on one line, and the line of the user's file where it shows. */
function whyOf(error: unknown, path: string): string {
  if (!(error instanceof Error)) return String(error);
  const [message = ''] = error.message.split('\nRequire stack:');
  const said = message.split(/\s+/).join(' ').trim();
  const line = said.includes(path) ? undefined : error.stack?.split(`${path}:`)[1]?.match(/^\d+/)?.[0];
  return line === undefined ? said : `${said} (line ${line})`;
}
