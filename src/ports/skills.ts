/** One file of a skill. */
export interface SkillFile {
  /** Within the skill's folder, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** A skill as the live catalog has it, checked. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** What follows the front matter of SKILL.md. */
  readonly body: string;
  /** All of them, SKILL.md among them, by path. */
  readonly files: readonly SkillFile[];
}

/** A skill in a list. */
export interface SkillEntry {
  readonly name: string;
  readonly description: string;
  readonly files: number;
  /** Of all files together. */
  readonly bytes: number;
  /** Where it is: a folder's path, or a store's address. */
  readonly where: string;
  /** Why it cannot be used, or null. Then the description is empty, and nothing is counted. */
  readonly fault: string | null;
}

/** Skills by name, as they are now. Only starting and publishing read it (P1). */
export interface SkillCatalog {
  /** By name. */
  list(): Promise<SkillEntry[]>;
  /** Null where there is none of the name. */
  get(name: string): Promise<Skill | null>;
}

/** A catalog that can be written to. */
export interface WritableSkillCatalog extends SkillCatalog {
  /** Puts a skill in place of the one of its name. */
  put(skill: Skill): Promise<void>;
  /** False where there is none of the name. */
  remove(name: string): Promise<boolean>;
}
