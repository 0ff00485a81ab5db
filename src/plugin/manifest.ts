import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { ConfigInvalidError } from '../contract/errors.ts';
import { FileInvalidError } from '../contract/pin-errors.ts';
import { createModels } from '../models/models.ts';
import type { ResolvedAgent } from '../pins/seal.ts';
import { parseYaml } from '../pins/yaml.ts';
import { agentProblems } from './agent-check.ts';
import { manifestSchema } from './agent-schema.ts';
import type { ResolvedConfig } from './config.ts';
import { loadModule } from './load-config.ts';
import { attempted, type Problem, problemOf, report } from './problems.ts';

const DATA = ['.yaml', '.yml', '.json'];
const CODE = ['.ts', '.mts', '.mjs', '.js'];

type Ground = Pick<ResolvedConfig, 'models' | 'prices' | 'tools' | 'mcp'>;

/** Whether a word on the command line is the path of a manifest, and no agent's name. */
export const isManifestPath = (word: string): boolean =>
  word.includes('/') || [...DATA, ...CODE].includes(extname(word).toLowerCase());

/**
 * Reads a manifest: YAML, JSON, or a module whose default export is what `defineAgent` gives.
 *
 * @throws {FileInvalidError} {@link ConfigInvalidError} naming file, and line or field.
 */
export async function readManifest(path: string, config: Ground, cwd = process.cwd()): Promise<ResolvedAgent> {
  const file = resolve(cwd, path);
  const kind = extname(file).toLowerCase();
  if (CODE.includes(kind)) return parseManifest(await loadModule(file, 'defineAgent'), config, file);
  if (!DATA.includes(kind)) {
    throw new FileInvalidError(file, null, `is none of ${[...DATA, ...CODE].join(', ')}; give a manifest.`);
  }
  const text = await textOf(file);
  if (kind === '.json') checkJson(text, file);
  const { value, lineOf } = parseYaml(text, file);
  try {
    return parseManifest(value, config, file);
  } catch (error) {
    if (!(error instanceof ConfigInvalidError)) throw error;
    const { field, why } = error.fields;
    const line = lineOf(String(field).split(/[.[]/)[0] ?? '');
    throw line === null ? error : new FileInvalidError(file, line, `${String(field)}: ${String(why)}`);
  }
}

/**
 * Checks a manifest against the config of the pool that is to run it, and fills in its defaults.
 *
 * @param file to name in errors; null where it was given in code.
 * @throws {ConfigInvalidError} naming the field.
 */
export function parseManifest(value: unknown, config: Ground, file: string | null): ResolvedAgent {
  const parsed = manifestSchema.safeParse(value);
  if (!parsed.success) throw report(parsed.error.issues.map(problemOf), file);
  const problems: Problem[] = [];
  const models = attempted(null, problems, () => createModels(config));
  problems.push(...agentProblems('', parsed.data, config, models));
  if (problems.length > 0) throw report(problems, file);
  return parsed.data;
}

async function textOf(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new FileInvalidError(file, null, `cannot be read (${error.code}); give a manifest, or the name of an agent.`);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FileInvalidError(file, null, 'is not UTF-8; save it as UTF-8.');
  }
}

/** What follows reads YAML too, which takes more than JSON. */
function checkJson(text: string, file: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    throw new FileInvalidError(file, null, `is not JSON: ${(error as Error).message}.`);
  }
}
