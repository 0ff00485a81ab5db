export { apomeshRecovery, apomeshRecoveryTick, apomeshSession } from '../workflows/index.ts';
export { canonicalJson } from './session/canonical-json.ts';
export { effectKey } from './session/keys.ts';
