import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleTooLargeError, FileInvalidError } from '../contract/pin-errors.ts';
import type { SkillCatalog, SkillEntry } from '../ports/skills.ts';
import { readSkillFolder } from './skill-folder.ts';
import { isSkillName } from './skill-md.ts';

/**
 * The skills of a folder: each folder in it is one. What changes there counts at the next start of a session.
 *
 * @param maxBytes of one skill.
 */
export function folderCatalog(folder: string, maxBytes: number): SkillCatalog {
  const names = async (): Promise<string[]> => (await entriesOf(folder)).map(({ name }) => name).sort();

  const entryOf = async (name: string): Promise<SkillEntry> => {
    const where = join(folder, name);
    try {
      const { description, files } = await readSkillFolder(where, maxBytes);
      const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
      return { name, description, files: files.length, bytes, where, fault: null };
    } catch (error) {
      if (!(error instanceof FileInvalidError) && !(error instanceof BundleTooLargeError)) throw error;
      return { name, description: '', files: 0, bytes: 0, where, fault: error.message };
    }
  };

  return {
    async list() {
      const entries: SkillEntry[] = [];
      for (const name of await names()) entries.push(await entryOf(name));
      return entries;
    },
    async get(name) {
      if (!isSkillName(name) || !(await names()).includes(name)) return null;
      return readSkillFolder(join(folder, name), maxBytes);
    },
  };
}

/** The folders, links to one among them. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()));
  } catch (error) {
    const why = `cannot be read (${(error as NodeJS.ErrnoException).code}); it is the folder that \`skills\` of the config names.`;
    throw new FileInvalidError(folder, null, why);
  }
}
