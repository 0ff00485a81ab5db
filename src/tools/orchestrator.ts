import { isOrchestratorTool, orchestratorTools } from '../agent/orchestrator.ts';
import type { Tool } from '../ports/tools.ts';
import { zodTool } from './zod.ts';

/** The orchestrator tools as any other tool is offered. They are applied to the session, and not run. */
export const builtInTools = (): Tool[] =>
  Object.keys(orchestratorTools)
    .filter(isOrchestratorTool)
    .map((name) => {
      const { description, input } = orchestratorTools[name];
      const run = () => Promise.reject(new TypeError(`${name} is applied, not run`));
      return { ...zodTool({ name, description, input, run }), class: 'orchestrator' };
    });
