import type { z } from 'zod';
import type { ToolClass } from '../session/envelopes.ts';
import { orchestratorTools } from './orchestrator.ts';
import { skillTools } from './skill-tools.ts';

/** A tool of the platform's own. None is run as the tools of a config are: its class and name say what does it. */
interface BuiltInTool {
  readonly class: Exclude<ToolClass, 'effect'>;
  readonly description: string;
  readonly input: z.ZodType;
}

const ofClass = (tools: Readonly<Record<string, Omit<BuiltInTool, 'class'>>>, toolClass: BuiltInTool['class']) =>
  Object.entries(tools).map(([name, tool]) => [name, { ...tool, class: toolClass }] as const);

/** All tools of the platform's own, by name. */
export const builtInTools: ReadonlyMap<string, BuiltInTool> = new Map([
  ...ofClass(orchestratorTools, 'orchestrator'),
  ...ofClass(skillTools, 'read'),
]);
