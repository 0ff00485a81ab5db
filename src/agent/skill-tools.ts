import { z } from 'zod';

/**
 * The tools that an agent with skills has, by the names that models use. Both are reads, and both read the pin and nothing else
 * (P1). Their schemas are sealed into pins: to change one is to name another tool.
 */
export const skillTools = {
  load_skill: {
    description: 'Gives the instructions of one of your skills.',
    input: z.strictObject({ name: z.string() }),
  },
  read_skill_file: {
    description:
      'Gives a file of one of your skills, by its path as the skill names it (`references/FORMS.md`). What is no text comes ' +
      'as base64.',
    input: z.strictObject({ skill: z.string(), path: z.string() }),
  },
} as const satisfies Readonly<Record<string, { readonly description: string; readonly input: z.ZodType }>>;

export type SkillToolName = keyof typeof skillTools;

export const skillToolNames = Object.keys(skillTools) as readonly SkillToolName[];

export const isSkillTool = (name: string): name is SkillToolName => Object.hasOwn(skillTools, name);
