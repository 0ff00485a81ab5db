import type { PinStore, SkillRows } from '../ports/pins.ts';
import type { WritableSkillCatalog } from '../ports/skills.ts';
import { keepFiles } from './keep.ts';
import { sealSkill } from './seal.ts';

type Store = SkillRows & Pick<PinStore, 'keep' | 'renew' | 'files'> & { readonly address: string };

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
    const [body, ...bytes] = await store.files([row.body, ...row.files]);
    return {
      name,
      description: row.description,
      body: Buffer.from(body ?? []).toString(),
      files: row.files.map(({ path }, i) => ({ path, bytes: bytes[i] ?? new Uint8Array() })),
    };
  },
  async put(skill) {
    const files = new Map();
    const sealed = sealSkill(skill, files);
    await keepFiles(store, [...files.values()]);
    await store.putSkill({ ...sealed, at: new Date().toISOString() });
  },
  remove: (name) => store.removeSkill(name),
});
