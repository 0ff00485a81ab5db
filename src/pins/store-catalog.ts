import { PinCorruptError } from '../contract/errors.ts';
import { FileInvalidError } from '../contract/pin-errors.ts';
import type { FileRow, PinStore, SkillRow, SkillRows } from '../ports/pins.ts';
import type { WritableSkillCatalog } from '../ports/skills.ts';
import { sealSkill } from './seal.ts';

type Store = SkillRows & Pick<PinStore, 'keep' | 'files'> & { readonly address: string };

/** The live catalog of skills in a store. */
export const storeCatalog = (store: Store): WritableSkillCatalog => ({
  async list() {
    return (await store.skills()).map(({ name, description, files }) => ({
      name,
      description,
      files: files.length,
      bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
      where: store.address,
      fault: null,
    }));
  },
  async get(name) {
    const row = await store.skill(name);
    if (row === null) return null;
    const [body, ...bytes] = await filesOf(store, row);
    return {
      name,
      description: row.description,
      body: Buffer.from(body ?? []).toString(),
      files: row.files.map(({ path }, i) => ({ path, bytes: bytes[i] ?? new Uint8Array() })),
    };
  },
  async put(skill) {
    const files = new Map<string, FileRow>();
    const sealed = sealSkill(skill, files);
    // Over what is there, which may be damaged.
    await store.keep([...files.values()]);
    await store.putSkill({ ...sealed, at: new Date().toISOString() });
  },
  remove: (name) => store.removeSkill(name),
});

/** @throws {FileInvalidError} where a file is missing or altered: it can be put again, unlike what a pin names. */
async function filesOf(store: Store, { name, body, files }: SkillRow): Promise<Uint8Array[]> {
  try {
    return await store.files([body, ...files]);
  } catch (error) {
    if (!(error instanceof PinCorruptError)) throw error;
    const { digest, why } = error.fields;
    const path = files.find((file) => file.digest === digest)?.path ?? 'SKILL.md';
    const advice = 'put the skill again (`apomesh skills put DIR`).';
    throw new FileInvalidError(`${store.address}: skill ${name}: ${path}`, null, `is ${String(why)}; ${advice}`);
  }
}
