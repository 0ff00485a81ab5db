import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { apomesh, errorOf, jsonOf } from '../support/cli.ts';
import { mongoUriOf, unique } from '../support/pool.ts';

const database = unique('publish');
const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'skills');

const CONFIG = `
import { defineAgent, defineConfig, defineTool, scriptedModel } from 'apomesh';
import { z } from 'zod';

const look = defineTool({ name: 'look', description: 'Looks.', effect: 'read', input: z.object({}), run: () => 'seen' });
const own = defineAgent({ name: 'own', version: '0.1.0', model: 'm', instructions: 'Own.', skills: ['mine'] });
export default defineConfig({
  models: { m: scriptedModel(() => ({ text: 'done' })) },
  tools: [look],
  agents: [own],
  skills: './skills',
  limits: { maxBundleBytes: 200_000 },
  mongo: { database: '${database}' },
});
`;

const manifest = (version: string, instructions = 'Fill in.', skill = 'pdf-forms'): string =>
  `name: forms\nversion: ${version}\nmodel: m\ninstructions: ${instructions}\ntools: [look]\nskills: [${skill}]\n`;

let cwd: string;
let mongo: MongoClient;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'apomesh-publish-'));
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(cwd, 'node_modules'));
  await writeFile(join(cwd, 'apomesh.config.ts'), CONFIG);
  await mkdir(join(cwd, 'skills', 'mine'), { recursive: true });
  await writeFile(join(cwd, 'skills', 'mine', 'SKILL.md'), '---\nname: mine\ndescription: Mine.\n---\nText.\n');
  await cp(join(FIXTURES, 'good', 'pdf-forms'), join(cwd, 'pdf-forms'), { recursive: true });
  mongo = await new MongoClient(mongoUriOf()).connect();
});
afterAll(async () => {
  await mongo?.close();
  await rm(cwd, { recursive: true, force: true });
});

const run = (...args: string[]) => apomesh(args, { cwd });
const json = async <T>(...args: string[]): Promise<T> => {
  const ran = await run(...args, '--json');
  expect([ran.exit, ran.stderr]).toEqual([0, '']);
  return jsonOf<T>(ran);
};
const publish = async (text: string, ...more: string[]) => {
  await writeFile(join(cwd, 'forms.yaml'), text);
  return run('publish', 'forms.yaml', ...more);
};
const table = (name: string) => mongo.db(database).collection<{ _id: string }>(name);

describe('the command line', () => {
  let digest: string;

  it('puts, lists, shows and removes skills', async () => {
    expect(await json('skills', 'put', 'pdf-forms')).toMatchObject({ name: 'pdf-forms', files: 4, hiddenBy: null });
    expect((await run('skills', 'list')).stdout).toMatch(/^mine +1 files, \d+ bytes .* Mine\.\npdf-forms +4 files/);
    const shown = await run('skills', 'show', 'pdf-forms');
    expect(shown.stdout).toMatch(/^pdf-forms: Fill in, .*scripts\/fields\.py +\d+ bytes.*# PDF forms/s);
    const missing = await run('skills', 'rm', 'nobody', '--json');
    expect([missing.exit, errorOf(missing)]).toMatchObject([3, { code: 'SKILL_NOT_FOUND', available: ['pdf-forms'] }]);
    const broken = await run('skills', 'put', join(FIXTURES, 'bad', 'colon'), '--json');
    expect([broken.exit, errorOf(broken)]).toMatchObject([2, { code: 'CONFIG_INVALID', line: 3 }]);
  });

  it('P2: publishes a manifest, once; other bytes are a conflict', async () => {
    const first = await publish(manifest('1.0.0'));
    expect(first.stdout).toMatch(/^forms@1\.0\.0 sha256:[0-9a-f]{64} published\n$/);
    digest = first.stdout.split(' ')[1] ?? '';
    const other = await publish(manifest('1.0.0', 'Other.'), '--json');
    expect([other.exit, errorOf(other)]).toMatchObject([4, { code: 'VERSION_CONFLICT', digest, version: '1.0.0' }]);
    const skill = await publish(manifest('3.0.0', 'x', 'nothing'), '--json');
    expect([skill.exit, errorOf(skill)]).toMatchObject([2, { code: 'SKILL_NOT_IN_BUNDLE', skill: 'nothing' }]);
    expect((await publish(manifest('1.1.0', 'Fill in well.'))).exit).toBe(0);
  });

  it('lists agents, and says what differs between versions', async () => {
    expect((await run('agents')).stdout).toMatch(
      /^forms@1\.1\.0 +sha256:\w+ +20.*\nforms@1\.0\.0 .*\nown@0\.1\.0 +of the config, not published/,
    );
    const changed = await run('agents', 'forms', '--diff', '1.0.0', '1.1.0');
    expect(changed.stdout).toBe('instructions\n  - Fill in.\n  + Fill in well.\nversion\n  - 1.0.0\n  + 1.1.0\n');
  });

  it('P2, P3: starts a version of a range without the config and the catalog, and records which', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'apomesh-bare-'));
    await writeFile(join(elsewhere, 'apomesh.config.mjs'), `export default { mongo: { database: '${database}' } };`);
    const args = [
      'start',
      'forms@~1.0',
      '--goal',
      'g',
      '--id',
      unique('bare'),
      '--task-queue',
      unique('none'),
      '--json',
    ];
    expect((await apomesh(args, { cwd: elsewhere })).exit).toBe(0);
    const first = (await table('events').findOne({ id: 'started' } as never)) as unknown as { data: string };
    expect(JSON.parse(first.data)).toMatchObject({
      pin: { kind: 'bundle', name: 'forms', version: '1.0.0', digest },
      shape: {
        agent: 'forms',
        version: '1.0.0',
        skills: ['pdf-forms'],
        tools: ['look', 'load_skill', 'read_skill_file'],
      },
    });
    await rm(join(elsewhere, 'apomesh.config.mjs'));
    const bare = await apomesh(['start', 'nobody', '--goal', 'g', '--json'], { cwd: elsewhere });
    expect([bare.exit, errorOf(bare)]).toMatchObject([3, { code: 'AGENT_NOT_FOUND', agent: 'nobody' }]);
    await rm(elsewhere, { recursive: true });
  });

  it('P4: finds a damaged bundle, and restores it from a backup', async () => {
    const counts = { pins: 1, files: 5, published: 1 };
    expect(await json('pins', 'export', 'forms@1.0.0', 'backup.ndjson')).toEqual({ file: 'backup.ndjson', ...counts });
    expect((await run('pins', 'export', 'forms', 'both.ndjson')).stdout).toBe(
      'wrote 2 pins, 5 files, 2 published versions to both.ndjson\n',
    );
    const damaged = await table('files').updateMany({ text: /List the fields/ } as never, { $set: { text: 'other' } });
    expect(damaged.modifiedCount).toBeGreaterThan(0);
    const found = await run('publish', 'forms@1.0.0', '--verify', '--json');
    expect([found.exit, errorOf(found)]).toMatchObject([
      5,
      { code: 'PIN_CORRUPT', agent: 'forms', version: '1.0.0', digest },
    ]);
    const backup = await readFile(join(cwd, 'backup.ndjson'), 'utf8');
    const damagedExport = await run('pins', 'export', 'backup.ndjson');
    expect(damagedExport).toMatchObject({ exit: 5, stdout: '' });
    expect(damagedExport.stderr).toMatch(
      /^error: PIN_CORRUPT: .* of forms@1\.\d\.0 is without the .* of the skill pdf-forms/,
    );
    expect(await readFile(join(cwd, 'backup.ndjson'), 'utf8')).toBe(backup);
    expect((await readdir(cwd)).filter((name) => name.includes('.part'))).toEqual([]);
    expect(await json('pins', 'import', 'backup.ndjson')).toEqual({ pins: 1, files: 5, published: 1 });
    expect(await json('publish', 'forms@1.0.0', '--verify')).toMatchObject({ digest, outcome: 'unchanged' });
  });

  it('names what cannot be exported, or not there', async () => {
    const refused = async (...args: string[]) => {
      const ran = await run('pins', ...args);
      return `${ran.exit} ${ran.stderr}`;
    };
    expect(await refused('export', '/nonexistent/x.txt')).toMatch(
      /^2 error: USAGE: the file \/nonexistent\/x\.txt cannot/,
    );
    expect(await refused('export', 'skills')).toMatch(
      /^2 error: USAGE: the file skills cannot be written: it is no file/,
    );
    expect(await refused('export', 'sha256:00', 'x.txt')).toMatch(/^2 error: USAGE: sha256:00 is no digest/);
    expect(await refused('export')).toMatch(/^2 error: USAGE: missing required argument 'file'/);
    expect(await refused('import', 'nothing.txt')).toMatch(/^2 error: USAGE: the file nothing\.txt cannot be read/);
    expect(await readdir(cwd)).not.toContain('x.txt');
  });

  it('sweeps what nobody names', async () => {
    const old = { at: '2020-01-01T00:00:00.000Z' };
    for (const name of ['files', 'pins']) await table(name).updateMany({}, { $set: old });
    await table('files').insertOne({ _id: `sha256:${'0'.repeat(64)}`, bytes: 6, text: 'unused', ...old } as never);
    expect((await run('pins', 'gc', '--dry-run')).stdout).toBe(
      `file sha256:${'0'.repeat(64)} 6 bytes ${old.at}\nwould delete 0 pins and 1 files, 6 bytes; 2 pins and 5 files stay\n`,
    );
    expect(await json('pins', 'gc', '--older-than', '2 days')).toMatchObject({ files: [{ bytes: 6 }], pins: [] });
    expect(await table('files').countDocuments()).toBe(5);
  });
});
