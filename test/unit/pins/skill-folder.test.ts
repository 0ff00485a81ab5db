import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BundleTooLargeError, FileInvalidError } from '../../../src/contract/pin-errors.ts';
import { folderCatalog } from '../../../src/pins/folder-catalog.ts';
import { readSkillFolder } from '../../../src/pins/skill-folder.ts';
import { agentOf, sealedOf } from '../../support/sealing.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'skills');
const good = (name: string): string => join(FIXTURES, 'good', name);
const bad = (name: string): string => join(FIXTURES, 'bad', name);
const MIB = 1024 * 1024;
const read = (folder: string, maxBytes = 32 * MIB) => readSkillFolder(folder, maxBytes);

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'skills-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

let copies = 0;
/** A skill of a folder of its own, which may be changed. */
async function copy(files: Readonly<Record<string, string | Buffer>> = {}): Promise<string> {
  const folder = join(dir, String(copies++), 'mine');
  const all = { 'SKILL.md': '---\nname: mine\ndescription: Mine.\n---\nText.\n', ...files };
  for (const [path, content] of Object.entries(all)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

const fault = (folder: string, maxBytes?: number): Promise<Error> =>
  read(folder, maxBytes).then(
    () => new Error('it was taken'),
    (error: Error) => error,
  );

describe('readSkillFolder', () => {
  it('takes every skill of the fixtures that is as it must be', async () => {
    const names = (await readdir(join(FIXTURES, 'good'))).sort();
    expect(names.length).toBeGreaterThanOrEqual(8);
    for (const name of names) expect((await read(good(name))).name).toBe(name);
  });

  it('gives name, description, text and all files, hidden ones apart', async () => {
    const { description, body, files } = await read(good('pdf-forms'));
    expect(description).toMatch(/^Fill in, flatten .* asks for a form to be filled in from a table\.$/);
    expect(body).toMatch(
      /^\n# PDF forms\n.*ends no front matter\. See \[the field types\]\(references\/field-types\.md\)\.\n$/s,
    );
    expect(files.map(({ path }) => path)).toEqual([
      'SKILL.md',
      'assets/stamp.png',
      'references/field-types.md',
      'scripts/fields.py',
    ]);
    for (const { path, bytes } of files) expect(await readFile(join(good('pdf-forms'), path))).toEqual(bytes);
    expect((await read(good('no-body'))).files.map(({ path }) => path)).toEqual(['SKILL.md', 'references/a.md']);
  });

  it('P1: keeps bytes as they are: line ends, byte order mark, any language', async () => {
    const windows = await read(good('windows-notes'));
    expect(windows.description).toBe("Takes notes: one file a day, in the user's own words.");
    expect(windows.body).toBe('\r\n# Notes\r\n\r\n- One file a day.\r\n- `notes\\\\2026-11-30.md`\r\n');
    const both = await read(good('both'));
    expect(both).toMatchObject({
      description: 'A byte order mark, and lines that end as on Windows.',
      body: 'The text.\r\n',
    });
    expect(Buffer.from(both.files[0]?.bytes ?? []).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    const german = await read(good('kundenbriefe'));
    expect(german.description).toContain('日本語の手紙にも使えます。 😀');
    expect(german.files.map(({ path }) => path)).toContain('references/grüße und mehr.md');
    expect((await read(good('incident-review'))).body.match(/^## Step/gm)).toHaveLength(400);
    expect((await read(good('no-body'))).body).toBe('');
  });

  it.each([
    ['no-front-matter', 1, /front matter/],
    ['not-closed', 1, /no end/],
    ['blank-first', 1, /front matter/],
    ['no-name', 1, /has no name/],
    ['no-description', 1, /has no description/],
    ['empty-description', 3, /empty/],
    ['long-description', 3, /1025 characters, and 1024/],
    ['duplicate-key', 5, /the key "description" is there twice/],
    ['tabs', 5, /tab/],
    ['anchors', 3, /anchor \(&text\)/],
    ['aliases', 4, /alias|\*text/i],
    ['tags', 3, /tag/],
    ['core-tags', 3, /a tag; write plain YAML/],
    ['colon', 3, /colon.*quotes/],
    ['number', 3, /must be text/],
    ['other-name', 2, /must be that of its folder, other-name/],
    ['upper-case', 2, /a-z 0-9/],
    ['gruesse', 2, /"grüße" must be/],
    ['list', 2, /no fields/],
    ['bad-metadata', 4, /metadata must be a mapping/],
    ['latin-1', null, /UTF-8/],
    ['lower-case', null, /has skill\.md; rename it to SKILL\.md/],
    ['nothing', null, /has no SKILL\.md/],
  ])('refuses %s, with file, line and reason', async (name, line, why) => {
    const error = await fault(bad(name));
    expect(error).toBeInstanceOf(FileInvalidError);
    expect(error.message).toMatch(why);
    expect(error).toMatchObject({ fields: { line, file: expect.stringContaining(bad(name)) } });
    const at = line === null ? '' : `:${line}`;
    expect(error.message).toContain(`${(error as FileInvalidError).fields['file']}${at}: `);
  });

  it('has a fixture for each refusal', async () => {
    expect(await readdir(join(FIXTURES, 'bad'))).toHaveLength(23);
  });

  it('reads a link to a file within, and refuses any other', async () => {
    const folder = await copy({ 'references/a.md': 'A.' });
    await symlink('references/a.md', join(folder, 'b.md'));
    expect((await read(folder)).files.find(({ path }) => path === 'b.md')?.bytes).toEqual(Buffer.from('A.'));
    for (const [target, why] of [
      ['../../../etc', /leaves the folder/],
      [join(FIXTURES, 'bad', 'nothing', 'README.md'), /leaves the folder/],
      ['..', /leaves the folder/],
      ['references', /link to a folder/],
      ['nowhere', /cannot be read \(ENOENT\)/],
      ['c.md', /cannot be read \(ELOOP\)/],
    ] as const) {
      await rm(join(folder, 'c.md'), { force: true });
      await symlink(target, join(folder, 'c.md'));
      expect((await fault(folder)).message).toMatch(target === '../../../etc' ? /leaves|ENOENT/ : why);
    }
  });

  it.each([
    ['names that differ in case alone', { 'a/Read.md': '1', 'a/read.md': '2' }, /upper and lower case alone/],
    ['folders that differ in case alone', { 'A/x.md': '1', 'a/y.md': '2' }, /upper and lower case alone/],
    ['a backslash in a name', { 'a\\b.md': '1' }, /backslash/],
    ['a new line in a name', { 'a\nb.md': '1' }, /control character/],
    ['a path that is too long', { [`${`${'d'.repeat(120)}/`.repeat(4)}${'f'.repeat(60)}.md`]: '1' }, /over 512 bytes/],
    ['a file that is too large', { 'large.bin': Buffer.alloc(8 * MIB + 1) }, /8388608 are the most/],
  ])('refuses %s', async (_what, files, why) => {
    const error = await fault(await copy(files));
    expect(error).toBeInstanceOf(FileInvalidError);
    expect(error.message).toMatch(why);
  });

  it('refuses what cannot be read', async () => {
    expect((await fault(join(dir, 'nowhere'))).message).toMatch(/nowhere: cannot be read \(ENOENT\)/);
    expect((await fault(join(good('pdf-forms'), 'SKILL.md'))).message).toMatch(/is no folder/);
    const folder = await copy({ 'secret.md': '1' });
    await chmod(join(folder, 'secret.md'), 0);
    const isRoot = process.getuid?.() === 0;
    expect((await fault(folder)).message).toMatch(isRoot ? /it was taken/ : /secret\.md: cannot be read \(EACCES\)/);
  });

  it('refuses what is over the limit before it is read', async () => {
    const folder = await copy({ a: 'x'.repeat(600), b: 'x'.repeat(600) });
    expect(await fault(folder, 1_000)).toBeInstanceOf(BundleTooLargeError);
    await expect(read(folder, 2_000)).resolves.toMatchObject({ name: 'mine' });
  });

  it('P2: gives the same digest elsewhere, and another for one byte that is changed', async () => {
    const digestOf = async (folder: string) => sealedOf(agentOf(), { skills: [await read(folder)] }).pin.ref.digest;
    const elsewhere = join(dir, 'else', 'where', 'pdf-forms');
    await cp(good('pdf-forms'), elsewhere, { recursive: true });
    expect(await digestOf(elsewhere)).toBe(await digestOf(good('pdf-forms')));
    const stamp = join(elsewhere, 'assets', 'stamp.png');
    const bytes = await readFile(stamp);
    bytes[8] = 1;
    await writeFile(stamp, bytes);
    expect(await digestOf(elsewhere)).not.toBe(await digestOf(good('pdf-forms')));
  });

  it('P2: gives the same digest for names in either form of Unicode', async () => {
    const digestOf = async (folder: string) => sealedOf(agentOf(), { skills: [await read(folder)] }).pin.ref.digest;
    expect(await digestOf(await copy({ 'gru\u0308n.md': '1' }))).toBe(await digestOf(await copy({ 'grün.md': '1' })));
  });
});

describe('folderCatalog', () => {
  it('lists what is there, and why what is broken cannot be used', async () => {
    const listed = await folderCatalog(join(FIXTURES, 'good'), MIB).list();
    expect(listed.map(({ fault }) => fault)).toEqual(Array(listed.length).fill(null));
    expect(listed.find(({ name }) => name === 'pdf-forms')).toMatchObject({ files: 4, where: good('pdf-forms') });
    const broken = await folderCatalog(join(FIXTURES, 'bad'), MIB).list();
    expect(broken.map(({ fault }) => fault)).toEqual(Array(23).fill(expect.stringContaining('/bad/')));
  });

  it('gives a skill as it is now, and null for a name that it does not have', async () => {
    const folder = join(await copy(), '..');
    const catalog = folderCatalog(folder, MIB);
    expect(await catalog.get('mine')).toMatchObject({ description: 'Mine.', body: 'Text.\n' });
    await writeFile(join(folder, 'mine', 'SKILL.md'), '---\nname: mine\ndescription: Changed.\n---\n');
    expect(await catalog.get('mine')).toMatchObject({ description: 'Changed.' });
    for (const name of ['other', '../mine', '.', '', 'Mine', 'mine/', '__proto__'])
      expect(await catalog.get(name)).toBeNull();
    await rename(join(folder, 'mine'), join(folder, 'gone'));
    expect(await catalog.get('mine')).toBeNull();
  });

  it('says where it looked for a folder that is not there', async () => {
    await expect(folderCatalog(join(dir, 'no-skills'), MIB).get('mine')).rejects.toThrow(/no-skills: cannot be read/);
  });
});
