export {
  type Script,
  type ScriptCall,
  type ScriptedModelOptions,
  type ScriptStep,
  scriptedModel,
} from './models/scripted.ts';
export { memoryStores } from './stores/memory/stores.ts';
