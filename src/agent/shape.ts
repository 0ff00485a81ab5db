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

/** What a pin's bytes hold (P3): everything a resume composes the agent from. */
export const pinnedAgent = z.object({
  v: z.literal(1),
  name: z.string(),
  version: z.string(),
  model: z.string(),
  instructions: z.string(),
  tools: z.array(pinnedTool),
  budget: resolvedBudget,
  output: jsonSchema.nullable(),
  dispatch: z.enum(['loop', 'call']),
});
export type PinnedAgent = z.infer<typeof pinnedAgent>;

/** SessionStarted's `shape`: body-free (L3); instructions and schemas are in the pin. */
export const shape = z.object({
  kind: z.literal('solo'),
  params: z.object({}),
  agent: z.string(),
  version: z.string(),
  model: z.string(),
  tools: z.array(z.string()),
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
