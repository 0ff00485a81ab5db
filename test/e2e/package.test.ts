import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '../../src/services/commands.ts';

const root = join(import.meta.dirname, '..', '..');
const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const MINUTES = 60_000;
let folder: string;
let project: string;

/** What a user gets: the tarball, and what npm installs with it, in a folder that knows nothing of this one. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-package-'));
  const packed = join(folder, 'packed');
  project = join(folder, 'project');
  await Promise.all([mkdir(packed), mkdir(project)]);
  await run(
    process.execPath,
    [tsc, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(packed, 'dist')],
    5 * MINUTES,
  );
  for (const name of ['package.json', 'README.md', 'LICENSE', 'src', 'workflows', 'activities']) {
    await cp(join(root, name), join(packed, name), { recursive: true });
  }
  await npm(packed, 'pack', '--ignore-scripts', '--pack-destination', folder);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  await writeFile(join(project, 'package.json'), '{ "name": "users-project", "private": true, "type": "module" }\n');
  await npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball));
}, 10 * MINUTES);
afterAll(() => rm(folder, { recursive: true, force: true }));

const npm = (cwd: string, ...args: string[]): Promise<string> =>
  run('npm', ['--prefix', cwd, ...args], 10 * MINUTES, cwd);
const node = (...args: string[]): Promise<string> => run(process.execPath, args, MINUTES, project);

describe('the package, installed from its tarball into an empty project', () => {
  it('gives what each entry names to a plain Node program', async () => {
    const code = `
      const entries = ['apomesh', 'apomesh/workflow', 'apomesh/testing'];
      const names = await Promise.all(entries.map(async (entry) => [entry, Object.keys(await import(entry))]));
      console.log(JSON.stringify(Object.fromEntries(names)));`;
    const names = JSON.parse(await node('--input-type=module', '-e', code));
    expect(names['apomesh']).toEqual(
      expect.arrayContaining(['defineAgent', 'defineTool', 'defineConfig', 'fold', 'canonicalJson']),
    );
    expect(names['apomesh/testing']).toEqual(expect.arrayContaining(['scriptedModel']));
    expect(names['apomesh/workflow']).not.toEqual([]);
    expect(Object.values(names).flat()).not.toContain('default');
  });

  it('shares zod with the user, so that types fit, and refuses what does not', async () => {
    await writeFile(
      join(project, 'use.ts'),
      `import { defineAgent, defineTool, fold, type SessionView } from 'apomesh';
       import { scriptedModel } from 'apomesh/testing';
       import { z } from 'zod';
       export const tool = defineTool({
         name: 'double', description: 'Doubles', input: z.object({ n: z.number() }), effect: 'read',
         run: async ({ n }) => n * 2,
       });
       export const agent = defineAgent({ name: 'a', model: 'm', instructions: 'Do it.', output: z.object({ n: z.number() }) });
       export const model = scriptedModel(() => ({ text: 'done' }));
       export const view: SessionView = fold([]);
       // @ts-expect-error no such field in the input
       export const wrong = defineTool({ name: 'x', description: '', input: z.object({ n: z.number() }), run: ({ m }) => m });
       `,
    );
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2024', strict: true, exactOptionalPropertyTypes: true },
      ...{ noEmit: true, skipLibCheck: true, types: [] },
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    expect(await node(tsc, '-p', project)).toBe('');
  });

  it('brings the command', async () => {
    const help = await run('npx', ['--no-install', 'apomesh', '--help'], MINUTES, project);
    expect(help).toContain('Usage: apomesh');
  });

  it('holds no tests and nothing of this machine', async () => {
    const files = (await readdir(join(project, 'node_modules', 'apomesh'))).filter((name) => name !== 'node_modules');
    expect(files.sort()).toEqual(['LICENSE', 'README.md', 'activities', 'dist', 'package.json', 'src', 'workflows']);
  });
});
