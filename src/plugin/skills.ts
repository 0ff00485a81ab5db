import { SkillNotFoundError } from '../contract/pin-errors.ts';
import { readSkillFolder } from '../pins/skill-folder.ts';
import { storeCatalog } from '../pins/store-catalog.ts';
import type { Skill, SkillCatalog, SkillEntry } from '../ports/skills.ts';
import type { Stores } from '../ports/store.ts';
import type { ResolvedConfig } from './config.ts';
import { openCatalog } from './skill-catalog.ts';

/** A skill that was put into the store. */
export interface PutSkill extends Omit<SkillEntry, 'fault'> {
  /** The folder of the config that has one of the same name, which goes before it; null where there is none. */
  readonly hiddenBy: string | null;
}

/** The live catalog of skills, which starting and publishing read. No session reads it later (P3). */
export class Skills {
  readonly #limits: ResolvedConfig['limits'];
  readonly #stores: Stores;
  readonly #catalog: SkillCatalog;

  constructor(config: ResolvedConfig, stores: Stores) {
    this.#limits = config.limits;
    this.#stores = stores;
    this.#catalog = openCatalog(config, stores);
  }

  /**
   * Puts a skill into the store, in place of the one of its name. Everything is checked before anything is stored.
   *
   * @param folder that SKILL.md is in.
   * @throws {FileInvalidError} naming file, line and reason. {@link BundleTooLargeError}
   */
  async put(folder: string): Promise<PutSkill> {
    const skill = await readSkillFolder(folder, this.#limits.maxBundleBytes);
    await this.#stores.prepare();
    await storeCatalog(this.#stores).put(skill);
    const { name, description, files } = skill;
    const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0);
    const found = (await this.#catalog.list()).find((entry) => entry.name === name);
    const where = this.#stores.address;
    const hiddenBy = found === undefined || found.where === where ? null : found.where;
    return { name, description, files: files.length, bytes, where, hiddenBy };
  }

  /** By name: those of the config's folder, and those of the store that it does not have. */
  list(): Promise<SkillEntry[]> {
    return this.#catalog.list();
  }

  /** A skill with all its files. @throws {SkillNotFoundError} {@link FileInvalidError} */
  async get(name: string): Promise<Skill> {
    const found = await this.#catalog.get(name);
    if (found !== null) return found;
    throw new SkillNotFoundError(name, namesOf(await this.#catalog.list()));
  }

  /** Takes a skill out of the store. Nothing changes for what was sealed with it. @throws {SkillNotFoundError} */
  async remove(name: string): Promise<void> {
    const stored = storeCatalog(this.#stores);
    if (await stored.remove(name)) return;
    const elsewhere = (await this.#catalog.list()).find((entry) => entry.name === name);
    throw new SkillNotFoundError(name, namesOf(await stored.list()), {
      where: 'in the store',
      ...(elsewhere !== undefined && { advice: `It is the folder ${elsewhere.where}: delete that.` }),
    });
  }
}

const namesOf = (entries: readonly SkillEntry[]): string[] => entries.map(({ name }) => name);
