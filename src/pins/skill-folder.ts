import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, join, relative, resolve, sep } from 'node:path';
import { BundleTooLargeError, FileInvalidError } from '../contract/pin-errors.ts';
import type { Skill, SkillFile } from '../ports/skills.ts';
import { parseSkillMd } from './skill-md.ts';

const SKILL_MD = 'SKILL.md';

const MIB = 1024 * 1024;

/** Largest single file, and most files, of a skill. */
const MAX_FILE_BYTES = 8 * MIB;
const MAX_FILES = 10_000;

/** Longest path within the folder, in bytes of UTF-8. */
const MAX_PATH_BYTES = 512;

/** What some system cannot have in the name of a file, and what stands for a name that is not UTF-8. */
const UNFIT = /[\p{Cc}\p{Cs}\\:\ufffd]/u;

/**
 * Reads a skill: a folder with a SKILL.md that has the folder's name. Hidden files and folders (`.git`, `.DS_Store`) are passed over. A
 * link to a file within the folder is read as that file. Paths are put into the composed form of Unicode (NFC), so that each system gives
 * the same.
 *
 * @param maxBytes of all files together.
 * @throws {FileInvalidError} naming file, line and reason. {@link BundleTooLargeError}
 */
export async function readSkillFolder(folder: string, maxBytes: number): Promise<Skill> {
  const root = await rootOf(folder);
  const walk = new Walk(root, maxBytes);
  await walk.folder(root, '');
  const files = walk.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const main = files.find(({ path }) => path === SKILL_MD);
  if (main === undefined) throw noSkillMd(root, files);
  return { ...parseSkillMd(main.bytes, join(root, SKILL_MD), basename(resolve(folder))), files };
}

async function rootOf(folder: string): Promise<string> {
  const path = resolve(folder);
  const root = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    throw new FileInvalidError(path, null, `cannot be read (${error.code}); give the folder of a skill.`);
  });
  if (!(await stat(root)).isDirectory()) {
    throw new FileInvalidError(path, null, 'is no folder; give the folder that SKILL.md is in.');
  }
  return root;
}

function noSkillMd(root: string, files: readonly SkillFile[]): FileInvalidError {
  const other = files.find(({ path }) => path.toLowerCase() === SKILL_MD.toLowerCase());
  const why = other === undefined ? `has no ${SKILL_MD}.` : `has ${other.path}; rename it to ${SKILL_MD}.`;
  return new FileInvalidError(root, null, why);
}

class Walk {
  readonly files: SkillFile[] = [];
  readonly #root: string;
  readonly #maxBytes: number;
  /** Paths in lower case. */
  readonly #seen = new Map<string, string>();
  #bytes = 0;

  constructor(root: string, maxBytes: number) {
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  async folder(folder: string, prefix: string): Promise<void> {
    for (const entry of await readable(folder, readdir(folder, { withFileTypes: true }))) {
      if (entry.name.startsWith('.')) continue;
      const real = join(folder, entry.name);
      const path = `${prefix}${entry.name.normalize('NFC')}`;
      this.#checkPath(path, real);
      if (entry.isDirectory()) await this.folder(real, `${path}/`);
      else await this.#file(entry, real, path);
    }
  }

  async #file(entry: Dirent, real: string, path: string): Promise<void> {
    const target = entry.isSymbolicLink() ? await this.#targetOf(real) : real;
    const { size } = await readable(real, stat(target));
    if (!entry.isSymbolicLink() && !entry.isFile()) throw new FileInvalidError(real, null, 'is no file and no folder.');
    if (size > MAX_FILE_BYTES)
      throw new FileInvalidError(real, null, `is ${size} bytes, and ${MAX_FILE_BYTES} are the most.`);
    this.#bytes += size;
    if (this.#bytes > this.#maxBytes) throw new BundleTooLargeError(this.#root, this.#bytes, this.#maxBytes);
    if (this.files.length >= MAX_FILES) throw new FileInvalidError(this.#root, null, `has over ${MAX_FILES} files.`);
    this.files.push({ path, bytes: await readable(real, readFile(target)) });
  }

  async #targetOf(link: string): Promise<string> {
    const target = await readable(link, realpath(link));
    const within = relative(this.#root, target);
    if (within.startsWith(`..${sep}`) || within === '..' || resolve(this.#root, within) !== target) {
      throw new FileInvalidError(link, null, 'is a link that leaves the folder; put the file itself there.');
    }
    if (!(await stat(target)).isFile()) {
      throw new FileInvalidError(link, null, 'is a link to a folder; put the folder itself there.');
    }
    return target;
  }

  #checkPath(path: string, real: string): void {
    if (UNFIT.test(path)) {
      throw new FileInvalidError(
        real,
        null,
        'has a backslash, a colon, a control character or broken UTF-8 in its name; rename it.',
      );
    }
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) {
      throw new FileInvalidError(real, null, `its path within the skill is over ${MAX_PATH_BYTES} bytes; shorten it.`);
    }
    const other = this.#seen.get(path.toLowerCase());
    if (other !== undefined) {
      throw new FileInvalidError(real, null, `differs from ${other} in upper and lower case alone; rename one.`);
    }
    this.#seen.set(path.toLowerCase(), path);
  }
}

/** What a call to the file system gives; a file that cannot be read is named. */
async function readable<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    throw new FileInvalidError(path, null, `cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
