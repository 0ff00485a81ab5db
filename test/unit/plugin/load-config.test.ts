import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigInvalidError } from '../../../src/contract/errors.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { findConfig, loadConfig } from '../../../src/plugin/load-config.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-config-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let made = 0;
/** A folder of its own with one file in it. */
async function withFile(name: string, text: string): Promise<string> {
  const cwd = await mkdtemp(join(folder, `${made++}-`));
  await writeFile(join(cwd, name), text);
  return cwd;
}

async function mistakeOf(loading: Promise<unknown>): Promise<ConfigInvalidError> {
  const error = await loading.then(
    () => new Error('it was taken'),
    (error: unknown) => error,
  );
  if (error instanceof ConfigInvalidError) return error;
  throw error;
}

describe('loadConfig', () => {
  it.each(['apomesh.config.ts', 'apomesh.config.mts', 'apomesh.config.mjs', 'apomesh.config.js'])(
    'finds and loads %s, which imports the very modules of this process',
    async (name) => {
      const cwd = await withFile(
        name,
        `import { defineConfig, scriptedModel } from 'apomesh';
         import { scriptedModel as fromTesting } from 'apomesh/testing';
         const sameModules = { specificationVersion: 'v4', provider: 'x', modelId: 'x', supportedUrls: {},
           doGenerate: scriptedModel, doStream: fromTesting };
         export default defineConfig({ models: { sameModules } });`,
      );
      const config = await loadConfig({ cwd });
      expect(config.file).toBe(join(cwd, name));
      expect(config.models['sameModules']).toMatchObject({ doGenerate: scriptedModel, doStream: scriptedModel });
    },
  );

  it('loads types, top-level await and what it imports beside it', async () => {
    const cwd = await withFile('helper.ts', `export const limit = async (): Promise<number> => 7;`);
    await writeFile(
      join(cwd, 'mine.ts'),
      `import { limit } from './helper.ts';
       interface Limits { readonly sliceNodes: number }
       const limits: Limits = { sliceNodes: await limit() };
       export default { limits };`,
    );
    expect((await loadConfig({ cwd, file: 'mine.ts' })).limits.sliceNodes).toBe(7);
  });

  const mistakes: [what: string, text: string, field: string, why: RegExp][] = [
    ['does not parse', 'export default { a: };', '(file)', /Unexpected token/],
    ['throws', "\nthrow new Error('no key');\nexport default {};", '(file)', /no key \(line 2\)/],
    ['imports what is not there', "import './nope.ts';\nexport default {};", '(file)', /nope\.ts/],
    ['has no default export', 'export const config = {};', '(file)', /default export/],
    ['is wrong', 'export default { limits: { sliceNodes: 0 } };', 'limits.sliceNodes', /from 1/],
  ];
  it.each(mistakes)('names the file that %s', async (_what, text, field, why) => {
    const cwd = await withFile('apomesh.config.ts', text);
    const { fields, message } = await mistakeOf(loadConfig({ cwd }));
    expect(fields).toMatchObject({ field, file: join(cwd, 'apomesh.config.ts'), why: expect.stringMatching(why) });
    expect(message.split('\n')).toHaveLength(1);
  });

  it('names the folder that has none, and the file that is not there', async () => {
    expect(await findConfig(folder)).toBeNull();
    expect((await mistakeOf(loadConfig({ cwd: folder }))).message).toContain(folder);
    expect((await mistakeOf(loadConfig({ cwd: folder, file: 'x.ts' }))).message).toContain(join(folder, 'x.ts'));
  });
});
