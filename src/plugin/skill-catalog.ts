import { storeCatalog } from '../pins/store-catalog.ts';
import type { SkillCatalog } from '../ports/skills.ts';
import type { Stores } from '../ports/store.ts';
import type { ResolvedConfig } from './config.ts';

/** The live catalog of skills. */
export const openCatalog = (_config: Pick<ResolvedConfig, 'skills'>, stores: Stores): SkillCatalog =>
  storeCatalog(stores);
