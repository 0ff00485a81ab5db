import { type Parts, type ResolvedAgent, type Sealed, sealAgent } from '../../src/pins/seal.ts';
import type { Skill } from '../../src/ports/skills.ts';

export const noBudget = { maxSteps: null, maxTokens: null, maxCostUsd: null, maxToolCalls: null, deadlineMs: null };

/** An agent as a config gives it. */
export const agentOf = (more: Partial<ResolvedAgent> = {}): ResolvedAgent => ({
  name: 'triage',
  version: '1.2.0',
  model: 'rehearsal',
  instructions: 'Triage “it”.',
  tools: [],
  skills: [],
  budget: noBudget,
  durability: 'checkpointed',
  output: null,
  dispatch: 'loop',
  coordination: { kind: 'solo', params: {} },
  roles: {},
  ...more,
});

/** A skill with a SKILL.md and, by path, other files. */
export const skillOf = (name: string, files: Readonly<Record<string, string | Uint8Array>> = {}): Skill => {
  const body = `How to do ${name}.\n`;
  const text = `---\nname: ${name}\ndescription: Does ${name}.\n---\n${body}`;
  const all = Object.entries({ 'SKILL.md': text, ...files });
  return {
    name,
    description: `Does ${name}.`,
    body,
    files: all.map(([path, bytes]) => ({ path, bytes: Buffer.from(bytes) })),
  };
};

/** An agent sealed. */
export const sealedOf = (
  agent: ResolvedAgent = agentOf(),
  { tools = [], skills = [] }: Partial<Parts> = {},
  roles: Readonly<Record<string, Parts>> = {},
): Sealed => sealAgent(agent, { tools, skills }, roles);
