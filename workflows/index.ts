export { apomeshRecovery, apomeshRecoveryTick } from './recovery.ts';
export { apomeshSession } from './session.ts';
