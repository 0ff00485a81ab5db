import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tool.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { type Catalogs, openCatalogs } from '../../../src/plugin/backends.ts';
import { parseConfig } from '../../../src/plugin/config.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { LogWriter, ref } from '../../support/logs.ts';
import { writeLog } from '../../support/written.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'skills');
const dirs: string[] = [];
afterAll(() => Promise.all(dirs.map((dir) => rm(dir, { recursive: true, force: true }))));

const look = (description = 'Looks.') =>
  defineTool({ name: 'look', description, effect: 'read', input: z.object({}), run: () => 'seen' });
const manifest = { name: 'forms', version: '1.0.0', model: 'm', instructions: 'Fill in.', tools: ['look'] };
const own = { name: 'own', version: '0.1.0', model: 'm', instructions: 'Own.', skills: ['mine'] };

let stores: Stores;
let dir: string;
let catalogs: Catalogs;

/** What sessions are started from, over the same store. */
const opened = (change: object = {}): Catalogs =>
  openCatalogs(
    parseConfig(
      {
        models: { m: scriptedModel(() => ({ text: 'done' })) },
        tools: [look()],
        agents: [own],
        skills: join(dir, 'skills'),
        limits: { maxBundleBytes: 100_000 },
        ...change,
      },
      null,
    ),
    stores,
  );

beforeEach(async () => {
  stores = memoryStores();
  dir = await mkdtemp(join(tmpdir(), 'publishing-'));
  dirs.push(dir);
  await mkdir(join(dir, 'skills', 'mine'), { recursive: true });
  await writeFile(join(dir, 'skills', 'mine', 'SKILL.md'), '---\nname: mine\ndescription: Mine.\n---\nText.\n');
  await cp(join(FIXTURES, 'good', 'pdf-forms'), join(dir, 'pdf-forms'), { recursive: true });
  catalogs = opened();
});

const stored = async (): Promise<number> =>
  (await Promise.all([stores.sealed('pins'), stores.sealed('files'), stores.published()])).flat().length;

describe('the live catalog', () => {
  it('has the folder’s skills, and those of the store, which the folder’s go before', async () => {
    expect(await catalogs.skills.put(join(dir, 'pdf-forms'))).toMatchObject({ files: 4, hiddenBy: null });
    const hidden = await catalogs.skills.put(join(dir, 'skills', 'mine'));
    expect(hidden).toMatchObject({ name: 'mine', where: 'memory', hiddenBy: join(dir, 'skills', 'mine') });
    await writeFile(join(dir, 'skills', 'mine', 'SKILL.md'), '---\nname: mine\ndescription: Newer.\n---\n');
    expect((await catalogs.skills.list()).map(({ name, where }) => [name, where])).toEqual([
      ['mine', join(dir, 'skills', 'mine')],
      ['pdf-forms', 'memory'],
    ]);
    expect((await catalogs.skills.get('mine')).description).toBe('Newer.');
    expect((await opened({ skills: undefined, agents: [] }).skills.get('mine')).description).toBe('Mine.');
    await catalogs.skills.remove('mine');
    await expect(catalogs.skills.remove('mine')).rejects.toMatchObject({
      code: 'SKILL_NOT_FOUND',
      message: `there is no skill mine in the store; there is pdf-forms. It is the folder ${join(dir, 'skills', 'mine')}: delete that.`,
      fields: { available: ['pdf-forms'] },
    });
    await expect(catalogs.skills.get('other')).rejects.toThrow(/there is mine, pdf-forms/);
  });

  it('stores nothing of a skill that is not as it must be', async () => {
    await expect(catalogs.skills.put(join(FIXTURES, 'bad', 'colon'))).rejects.toMatchObject({ fields: { line: 3 } });
    await writeFile(join(dir, 'pdf-forms', 'large.txt'), 'x'.repeat(100_000));
    await expect(catalogs.skills.put(join(dir, 'pdf-forms'))).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    expect(await stored()).toBe(0);
    expect(await stores.skills()).toEqual([]);
  });

  it('names the file of a skill that was damaged in the store; putting it again mends it', async () => {
    await catalogs.skills.put(join(dir, 'pdf-forms'));
    const row = await stores.skill('pdf-forms');
    const file = row?.files.find(({ path }) => path === 'scripts/fields.py');
    if (file === undefined) throw new Error('no such file');
    await stores.keep([{ into: 'files', ref: file, bytes: Buffer.from('other') }]);
    await expect(catalogs.skills.get('pdf-forms')).rejects.toThrow(/skill pdf-forms: scripts\/fields\.py: is altered/);
    await catalogs.skills.put(join(dir, 'pdf-forms'));
    expect((await catalogs.skills.get('pdf-forms')).files).toHaveLength(4);
  });
});

describe('publishing', () => {
  it('P2: seals what the names stand for now, and nothing changes it later', async () => {
    await catalogs.skills.put(join(dir, 'pdf-forms'));
    const published = await catalogs.publishing.publish({ ...manifest, skills: ['pdf-forms'] });
    expect(published).toMatchObject({ name: 'forms', version: '1.0.0', outcome: 'published' });
    await catalogs.skills.remove('pdf-forms');
    const later = opened({ tools: [look('Looks otherwise.')], skills: join(dir, 'nowhere'), agents: [] });
    const start = await later.agents.resolve('forms');
    expect(start).toMatchObject({ kind: 'bundle', digest: published.digest, sealed: null });
    expect(start.pinned.tools).toMatchObject([
      { name: 'look', description: 'Looks.' },
      { name: 'load_skill' },
      { name: 'read_skill_file' },
    ]);
    expect(start.pinned.skills).toMatchObject([{ name: 'pdf-forms', files: { length: 4 } }]);
    expect(start.pinned.skillList).toContain('- pdf-forms: Fill in, flatten and check PDF forms.');
  });

  it('P2: refuses other bytes under the same version, and stores nothing', async () => {
    await catalogs.publishing.publish(manifest);
    const before = await stored();
    expect(await catalogs.publishing.publish(manifest)).toMatchObject({ outcome: 'unchanged' });
    for (const publish of [
      () => catalogs.publishing.publish({ ...manifest, instructions: 'Other.' }),
      () => opened({ tools: [look('Other.')] }).publishing.publish(manifest),
    ])
      await expect(publish()).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await stored()).toBe(before);
  });

  it('P2: refuses what cannot be sealed, and stores nothing', async () => {
    const { publishing } = catalogs;
    await mkdir(join(dir, 'skills', 'broken'));
    await expect(publishing.publish({ ...manifest, skills: ['nothing'] })).rejects.toMatchObject({
      code: 'SKILL_NOT_IN_BUNDLE',
      fields: { skill: 'nothing', agent: 'forms', version: '1.0.0', digest: null, available: ['mine'] },
    });
    await expect(publishing.publish({ ...manifest, tools: ['lok'] })).rejects.toThrow(/no tool lok; there is look/);
    for (const source of ['nobody', 'own@1.0.0'])
      await expect(publishing.publish(source)).rejects.toThrow(
        `no agent ${source} in the config; there is own@0.1.0. To`,
      );
    await writeFile(join(dir, 'skills', 'mine', 'large'), 'x'.repeat(100_000));
    await expect(publishing.publish('own')).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
    const tight = opened({ limits: { maxBodyBytes: 2_000 } }).publishing;
    const long = { ...manifest, instructions: 'x'.repeat(2_000) };
    await expect(tight.publish(long)).rejects.toThrow(/the pin of forms is \d+ bytes and the limit is 2000/);
    expect(await stored()).toBe(0);
  });

  it('P3: an agent of the config is sealed with what is there at each start', async () => {
    const one = await catalogs.agents.resolve('own');
    expect(one).toMatchObject({ kind: 'catalog', shape: { skills: ['mine'] } });
    await writeFile(join(dir, 'skills', 'mine', 'extra.md'), 'Extra.');
    const other = await catalogs.agents.resolve('own');
    expect(other.digest).not.toBe(one.digest);
    expect(await stored()).toBe(0);
  });

  it('P2: a published version goes before the same one of the config', async () => {
    const { digest } = await catalogs.publishing.publish('own');
    await writeFile(join(dir, 'skills', 'mine', 'extra.md'), 'Extra.');
    expect(await catalogs.agents.resolve('own')).toMatchObject({ kind: 'bundle', digest });
    expect(await opened({ agents: [{ ...own, version: '0.2.0' }] }).agents.resolve('own')).toMatchObject({
      kind: 'catalog',
      shape: { version: '0.2.0' },
    });
  });

  it('P4: starts nothing of a bundle that lacks a file', async () => {
    const { digest } = await catalogs.publishing.publish('own');
    await stores.sweep('files', (await stores.sealed('files')).map((file) => file.digest).slice(0, 1), '9');
    await expect(catalogs.agents.resolve('own')).rejects.toMatchObject({
      code: 'PIN_CORRUPT',
      fields: { agent: 'own', version: '0.1.0', digest },
    });
  });

  it('P4: restores a bundle from the config’s agent, where that makes the same bytes', async () => {
    await catalogs.publishing.publish('own');
    const [pin] = await stores.sealed('pins');
    const damage = () => stores.sweep('pins', [String(pin?.digest)], '9');
    await damage();
    expect(await catalogs.publishing.verify('own@^0.1.0')).toMatchObject({ outcome: 'restored' });
    expect(await catalogs.publishing.verify('own')).toMatchObject({ outcome: 'unchanged' });
    await damage();
    await writeFile(join(dir, 'skills', 'mine', 'extra.md'), 'Extra.');
    await expect(catalogs.publishing.verify('own')).rejects.toMatchObject({
      code: 'PIN_CORRUPT',
      message: expect.stringContaining('`apomesh publish own@0.1.0 --verify`'),
    });
    await expect(catalogs.publishing.verify('own@2.0.0')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('verifies the version that publishing the same source would give', async () => {
    await catalogs.publishing.publish('own');
    const newer = { ...own, version: '0.2.0' };
    await opened({ agents: [newer] }).publishing.publish('own');
    for (const source of ['own', 'own@^0.1.0', 'own@0.1.0'])
      expect(await catalogs.publishing.verify(source)).toMatchObject({ version: '0.1.0' });
    expect(await catalogs.publishing.verify('own@0.2.0')).toMatchObject({ version: '0.2.0' });
    expect(await opened({ agents: [] }).publishing.verify('own')).toMatchObject({ version: '0.2.0' });
    await expect(opened({ agents: [{ ...own, version: '0.3.0' }] }).publishing.verify('own')).rejects.toThrow(
      'no agent own@0.3.0 that is published; there is own@0.1.0, own@0.2.0.',
    );
  });

  it('lists versions, the newest first, and those of the config that are not published', async () => {
    for (const version of ['1.0.0', '1.10.0', '1.9.0', '2.0.0-rc.1'])
      await catalogs.publishing.publish({ ...manifest, version });
    const versions = (await catalogs.publishing.list()).map(({ name, version }) => `${name}@${version}`);
    expect(versions).toEqual(['forms@2.0.0-rc.1', 'forms@1.10.0', 'forms@1.9.0', 'forms@1.0.0', 'own@0.1.0']);
    expect(await catalogs.publishing.list('own')).toEqual([{ name: 'own', version: '0.1.0', digest: null, at: null }]);
    await expect(catalogs.publishing.list('nobody')).rejects.toThrow(/there is forms, own/);
    expect(await catalogs.publishing.diff('forms', '1.0.0', '^1.9')).toEqual([
      { path: 'version', before: '1.0.0', after: '1.10.0' },
    ]);
  });
});

describe('bundles', () => {
  const linesOf = async (names?: string[]) => {
    const lines: string[] = [];
    for await (const each of catalogs.bundles.export(names)) lines.push(each);
    return lines;
  };

  it('P4: are exported with all that a published version or a session names, or not at all', async () => {
    const one = await catalogs.publishing.publish(manifest);
    await catalogs.publishing.publish('own');
    await stores.sweep('pins', [one.digest], '9');
    const missing = { code: 'PIN_CORRUPT', fields: { agent: 'forms', version: '1.0.0', digest: one.digest } };
    for (const names of [undefined, ['forms'], ['own', one.digest]])
      await expect(linesOf(names)).rejects.toMatchObject(missing);
    expect((await linesOf(['own'])).at(-1)).toContain('"pins":1');
    await stores.sweep(
      'pins',
      (await stores.sealed('pins')).map(({ digest }) => digest),
      '9',
    );
    await expect(linesOf()).rejects.toMatchObject({ code: 'PIN_CORRUPT' });
  });

  it('P4: are not exported where a session’s is missing', async () => {
    await writeLog(stores, new LogWriter().start().rows);
    for (const names of [undefined, [ref(0).digest]])
      await expect(linesOf(names)).rejects.toMatchObject({ code: 'PIN_CORRUPT', fields: { digest: ref(0).digest } });
  });

  it('are exported in all versions of a name, the newest of a range, or as a digest says', async () => {
    for (const version of ['1.0.0', '1.1.0', '2.0.0-rc.1']) await catalogs.publishing.publish({ ...manifest, version });
    const endOf = async (...names: string[]) => JSON.parse((await linesOf(names)).at(-1) ?? '').end;
    expect(await endOf('forms')).toEqual({ pins: 3, files: 0, published: 3 });
    expect(await endOf('forms@^1', 'forms@1.1.0')).toEqual({ pins: 1, files: 0, published: 1 });
    for (const name of ['sha256:00', `sha256:${'A'.repeat(64)}`])
      await expect(linesOf([name])).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringMatching('is no digest'),
      });
    await expect(linesOf([`sha256:${'0'.repeat(64)}`])).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(/there is no pin sha256:0+\. `apomesh agents` lists/),
    });
    await expect(linesOf(['nobody'])).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
  });

  it('are exported by name, by digest, or all, and come back elsewhere', async () => {
    const one = await catalogs.publishing.publish(manifest);
    await catalogs.publishing.publish('own');
    expect((await linesOf(['forms'])).at(-1)).toBe('{"end":{"pins":1,"files":0,"published":1}}\n');
    expect(await linesOf([one.digest])).toEqual(await linesOf(['forms@1.0.0']));
    await expect(linesOf(['forms@3'])).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    const all = await linesOf();
    stores = memoryStores();
    expect(await opened().bundles.import(all)).toEqual({ pins: 2, files: 2, published: 2 });
    expect(await opened().publishing.verify('own')).toMatchObject({ outcome: 'unchanged' });
  });

  it('are not swept younger than an hour', async () => {
    await expect(catalogs.bundles.gc({ minAgeMs: 1 })).rejects.toMatchObject({ code: 'USAGE' });
    expect(await catalogs.bundles.gc({ dryRun: true })).toEqual({ pins: [], files: [], kept: { pins: 0, files: 0 } });
  });
});
