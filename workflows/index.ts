export { apomeshSession } from './session.ts';
