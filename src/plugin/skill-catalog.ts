import { folderCatalog } from '../pins/folder-catalog.ts';
import { storeCatalog } from '../pins/store-catalog.ts';
import type { SkillCatalog } from '../ports/skills.ts';
import type { Stores } from '../ports/store.ts';
import type { ResolvedConfig } from './config.ts';

/** The live catalog of skills: the config's folder goes before the store. */
export function openCatalog(
  { skills, limits }: Pick<ResolvedConfig, 'skills' | 'limits'>,
  stores: Stores,
): SkillCatalog {
  const stored = storeCatalog(stores);
  if (skills === null) return stored;
  const folder = folderCatalog(skills, limits.maxBundleBytes);
  return {
    async list() {
      const found = await folder.list();
      const names = new Set(found.map(({ name }) => name));
      const others = (await stored.list()).filter(({ name }) => !names.has(name));
      return [...found, ...others].sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    get: async (name) => (await folder.get(name)) ?? stored.get(name),
  };
}
