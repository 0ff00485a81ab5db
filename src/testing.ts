export { type CrashOptions, type CrashRun, crashSchedules } from './crash/crash.ts';
export type { CrashEnd, CrashScene, MakeScene, Stage } from './crash/scene.ts';
export {
  type Script,
  type ScriptCall,
  type ScriptedModelOptions,
  type ScriptStep,
  scriptedModel,
} from './models/scripted.ts';
export { memoryStores } from './stores/memory/stores.ts';
