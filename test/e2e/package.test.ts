import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '../../src/services/commands.ts';
import { addressOf, unique } from '../support/pool.ts';

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
  await symlink(join(root, 'node_modules'), join(packed, 'node_modules'));
  const bundling = ['--conditions=apomesh:source', join(root, 'build', 'bundle-workflows.ts'), join(packed, 'dist')];
  await run(process.execPath, bundling, MINUTES);
  for (const name of ['package.json', 'README.md', 'LICENSE', 'docs', 'src', 'workflows', 'activities']) {
    await cp(join(root, name), join(packed, name), { recursive: true });
  }
  await npm(packed, 'pack', '--ignore-scripts', '--pack-destination', folder);
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? '';
  const users = { name: 'users-project', private: true, type: 'module', dependencies: await sdk() };
  await writeFile(join(project, 'package.json'), JSON.stringify(users));
  await npm(project, 'install', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball));
}, 10 * MINUTES);
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The SDK in the versions that are installed here. */
async function sdk(): Promise<Record<string, string>> {
  const names = ['activity', 'client', 'common', 'plugin', 'worker', 'workflow'].map((name) => `@temporalio/${name}`);
  const versions = names.map(async (name) => [name, (await manifestOf(root, name)).version] as const);
  return Object.fromEntries(await Promise.all(versions));
}

const manifestFile = (folder: string, name: string): string => join(folder, 'node_modules', name, 'package.json');
const manifestOf = async (folder: string, name: string): Promise<{ version: string }> =>
  JSON.parse(await readFile(manifestFile(folder, name), 'utf8'));

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

  describe('runs its workflows', () => {
    /** A session on a worker with options of its own; gives its output, and whether the worker had to bundle. */
    const session = async (options = '{}'): Promise<unknown> => {
      const code = `
        import { Client, Connection } from '@temporalio/client';
        import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
        import { ApomeshClient, ApomeshPlugin, defineAgent, defineConfig } from 'apomesh';
        import { memoryStores, scriptedModel } from 'apomesh/testing';
        const said = [];
        Runtime.install({ logger: new DefaultLogger('INFO', ({ message }) => said.push(message)) });
        const agents = [defineAgent({ name: 'a', model: 'm', instructions: 'Do it.' })];
        const config = defineConfig({ models: { m: scriptedModel(() => ({ text: 'done' })) }, agents });
        const plugin = new ApomeshPlugin(config, { stores: memoryStores() });
        const [address, taskQueue] = ['${addressOf()}', '${unique('package')}'];
        const [native, connection] = await Promise.all([NativeConnection.connect({ address }), Connection.connect({ address })]);
        const worker = await Worker.create({ connection: native, taskQueue, plugins: [plugin], ...(${options}) });
        const apomesh = new ApomeshClient({ client: new Client({ connection, plugins: [plugin] }) });
        const output = await worker.runUntil(async () =>
          (await apomesh.sessions.start({ agent: 'a', goal: 'go', taskQueue })).output(),
        );
        await Promise.all([native.close(), connection.close()]);
        console.log(JSON.stringify({ output, bundled: said.some((line) => line.includes('Workflow bundle created')) }));`;
      return JSON.parse(await node('--input-type=module', '-e', code));
    };

    it('from the bundle that it brings', async () => {
      expect(await session()).toEqual({ output: 'done', bundled: false });
    });

    it("bundled anew where something of the user's goes into the bundle, or another plugin may have a say", async () => {
      for (const options of ['{ bundlerOptions: {} }', "{ plugins: [plugin, { name: 'another' }] }"])
        expect(await session(options)).toEqual({ output: 'done', bundled: true });
    });

    it('bundled anew with another version of the SDK than made the bundle', async () => {
      const name = '@temporalio/workflow';
      const before = await readFile(manifestFile(project, name), 'utf8');
      const altered = { ...JSON.parse(before), version: '1.24.999' };
      await writeFile(manifestFile(project, name), JSON.stringify(altered));
      expect(await session()).toEqual({ output: 'done', bundled: true });
      await writeFile(manifestFile(project, name), before);
    });
  });

  it('brings the command', async () => {
    const help = await run('npx', ['--no-install', 'apomesh', '--help'], MINUTES, project);
    expect(help).toContain('Usage: apomesh');
  });

  it('holds no tests and nothing of this machine', async () => {
    const files = (await readdir(join(project, 'node_modules', 'apomesh'))).filter((name) => name !== 'node_modules');
    expect(files.sort()).toEqual([
      'LICENSE',
      'README.md',
      'activities',
      'dist',
      'docs',
      'package.json',
      'src',
      'workflows',
    ]);
  });
});
