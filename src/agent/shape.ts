import { z } from 'zod';
import { bodyOf } from '../session/digest.ts';
import { bodyRef, durabilities, toolClasses } from '../session/envelopes.ts';
import type { JsonObject } from '../session/json.ts';

/** A resolved budget: times in milliseconds, absent limits null. */
export const resolvedBudget = z.object({
  maxSteps: z.int().positive().nullable(),
  maxTokens: z.number().positive().nullable(),
  maxCostUsd: z.number().positive().nullable(),
  maxToolCalls: z.int().positive().nullable(),
  deadlineMs: z.number().positive().nullable(),
});
export type ResolvedBudget = z.infer<typeof resolvedBudget>;

const jsonSchema = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

/** A tool as an agent was pinned to see it. */
export const pinnedTool = z.object({
  name: z.string(),
  description: z.string(),
  class: z.enum(toolClasses),
  /** JSON schema of the input. */
  input: jsonSchema,
});
export type PinnedTool = z.infer<typeof pinnedTool>;

/** Bytes of a file, kept once by the digest of the bytes themselves, whichever pins and catalog entries name them. */
const fileRef = z.object({ digest: bodyRef.shape.digest, bytes: bodyRef.shape.bytes });
export type FileRef = z.infer<typeof fileRef>;

/** A skill as it was sealed. Its bytes are apart: the pin's digest covers them through the files' digests. */
export const sealedSkill = z.object({
  name: z.string(),
  description: z.string(),
  /** What follows the front matter of SKILL.md, as UTF-8 text: what the agent gets when it loads the skill. */
  body: fileRef,
  /** All files, SKILL.md among them, by path (with `/`), in the order of the paths' UTF-16 code units. */
  files: z.array(fileRef.extend({ path: z.string() })),
});
export type SealedSkill = z.infer<typeof sealedSkill>;

/** Which loops there are to drive a session. */
export const coordinationKinds = ['solo'] as const;
export type CoordinationKind = (typeof coordinationKinds)[number];

const coordination = z.object({ kind: z.enum(coordinationKinds), params: jsonSchema });
export type Coordination = z.infer<typeof coordination>;

const composed = {
  model: z.string(),
  instructions: z.string(),
  tools: z.array(pinnedTool),
  budget: resolvedBudget,
  output: jsonSchema.nullable(),
  dispatch: z.enum(['loop', 'call']),
};

const withSkills = {
  /** By name. */
  skills: z.array(sealedSkill),
  /** What the system prompt says of the skills, to be put after the instructions as it is; empty where there are none. */
  skillList: z.string(),
};

/** A role as it was sealed. */
const sealedRole = z.object({ ...composed, ...withSkills });
export type SealedRole = z.infer<typeof sealedRole>;

const head = { name: z.string(), version: z.string() };

/** What a pin's bytes hold (P2, P3): everything a resume composes the agent from. */
export const pinnedAgent = z.object({
  v: z.literal(2),
  ...head,
  ...composed,
  ...withSkills,
  /** The agent's own; a session may have been started with another, which its SessionStarted says. */
  durability: z.enum(durabilities),
  coordination,
  /** By role. None is run yet. */
  roles: z.record(z.string(), sealedRole),
});
export type PinnedAgent = z.infer<typeof pinnedAgent>;

/** Before skills and roles. */
const pinnedAgentV1 = z.object({ v: z.literal(1), ...head, ...composed }).transform(
  (pinned): PinnedAgent => ({
    ...pinned,
    v: 2,
    skills: [],
    skillList: '',
    durability: 'checkpointed',
    coordination: { kind: 'solo', params: {} },
    roles: {},
  }),
);

/** A pin's bytes of any form that this release opens. */
export const anyPinnedAgent = z.discriminatedUnion('v', [pinnedAgentV1, pinnedAgent]);

/** The system prompt, the same bytes at each resume. */
export const systemPromptOf = ({ instructions, skillList }: Pick<SealedRole, 'instructions' | 'skillList'>): string =>
  instructions + skillList;

/** SessionStarted's `shape`: body-free (L3); instructions and schemas are in the pin. */
export const shape = z.object({
  kind: z.enum(coordinationKinds),
  params: jsonSchema,
  agent: z.string(),
  version: z.string(),
  model: z.string(),
  tools: z.array(z.string()),
  /** Names; none in logs from before there were skills. */
  skills: z.array(z.string()).default([]),
  /** Names. */
  roles: z.array(z.string()).default([]),
  budget: resolvedBudget,
  dispatch: z.enum(['loop', 'call']),
  durability: z.enum(durabilities),
});
export type Shape = z.infer<typeof shape>;

/** AgentLifecycle born's `config`: the shape of the agent and where its instructions are. */
export const agentConfig = z.object({
  agent: z.string(),
  version: z.string(),
  model: z.string(),
  instructions: bodyRef,
  tools: z.array(z.string()),
  budget: resolvedBudget,
  dispatch: z.enum(['loop', 'call']),
});
export type AgentConfig = z.infer<typeof agentConfig>;

/** The config that an agent is born with, from its pin. */
export const agentConfigOf = ({
  name,
  version,
  model,
  instructions,
  tools,
  budget,
  dispatch,
}: PinnedAgent): AgentConfig => ({
  agent: name,
  version,
  model,
  instructions: bodyOf(instructions).ref,
  tools: tools.map((tool) => tool.name),
  budget,
  dispatch,
});
