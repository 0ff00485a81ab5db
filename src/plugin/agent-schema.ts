import { z } from 'zod';
import type { Budget, DispatchMode } from '../agent/agent.ts';
import { agentNameRule, isAgentName, isVersion } from '../agent/naming.ts';
import { type Coordination, coordinationKinds, type ResolvedBudget } from '../agent/shape.ts';
import { durabilities } from '../session/envelopes.ts';
import type { JsonObject } from '../session/json.ts';
import { outputSchema } from './output-schema.ts';
import { duration, positive, wholePositive } from './schema-parts.ts';

const ROLE_NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const dispatchModes = ['loop', 'call'] as const satisfies readonly DispatchMode[];

const wellFormed = (text: string): boolean => !/\p{Cs}/u.test(text);

const budgetSchema = z
  .strictObject({
    maxSteps: wholePositive.optional(),
    maxTokens: positive.optional(),
    maxCostUsd: positive.optional(),
    maxToolCalls: wholePositive.optional(),
    deadline: duration.refine((millis) => millis > 0, { error: 'must be more than 0' }).optional(),
  } satisfies Record<keyof Budget, z.ZodType>)
  .transform(
    (budget): ResolvedBudget => ({
      maxSteps: budget.maxSteps ?? null,
      maxTokens: budget.maxTokens ?? null,
      maxCostUsd: budget.maxCostUsd ?? null,
      maxToolCalls: budget.maxToolCalls ?? null,
      deadlineMs: budget.deadline ?? null,
    }),
  );

function jsonSchemaOf(schema: z.ZodType, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })));
  } catch (error) {
    context.addIssue({
      code: 'custom',
      message: `${(error as Error).message}; a model can only give what JSON carries`,
    });
    return z.NEVER;
  }
}

/** Of a config, which is code. */
const zodOutput = z
  .custom<z.ZodType>((value) => value instanceof z.ZodType, { error: 'is no schema of zod 4; write z.object({...})' })
  .transform(jsonSchemaOf)
  .pipe(outputSchema);

/** Of a manifest, which may be data. */
const anyOutput = z
  .unknown()
  .transform((value, context) => (value instanceof z.ZodType ? jsonSchemaOf(value, context) : value))
  .pipe(outputSchema);

const kinds = coordinationKinds.join(', ');
const kindSchema = z.enum(coordinationKinds, { error: `is no kind of coordination; there is ${kinds}` });

/** A kind by its name, or with parameters, of which `solo` has none. */
const coordinationSchema = z
  .union([kindSchema, z.strictObject({ kind: kindSchema, params: z.strictObject({}).default({}) })], {
    error: `is no kind of coordination; there is ${kinds}`,
  })
  .transform((given): Coordination => (typeof given === 'string' ? { kind: given, params: {} } : given));

const fieldsOf = <Output extends z.ZodType<JsonObject>>(output: Output) => ({
  model: z.string().min(1, { error: 'is missing; name one of models' }),
  instructions: z.string().refine(wellFormed, { error: 'has half a surrogate pair, which JSON cannot carry' }),
  tools: z.array(z.string().min(1)).default([]),
  skills: z.array(z.string().min(1)).default([]),
  budget: budgetSchema.prefault({}),
  output: output.nullable().default(null),
  dispatch: z.enum(dispatchModes).default('loop'),
});

const version = z.string().refine(isVersion, { error: 'is no semantic version; write 1.0.0' });

const definitionOf = <Output extends z.ZodType<JsonObject>, Version extends z.ZodType>(
  output: Output,
  versioned: Version,
) => ({
  name: z.string().refine(isAgentName, { error: agentNameRule }),
  version: versioned,
  ...fieldsOf(output),
  coordination: coordinationSchema.prefault('solo'),
  durability: z.enum(durabilities).default('checkpointed'),
  roles: z
    .record(
      z.string().regex(ROLE_NAME, { error: 'the name of a role is 1 to 64 of a-z 0-9 - _ and begins with a letter' }),
      z.strictObject(fieldsOf(output)),
    )
    .default({}),
});

/** An agent in a config. */
export const agentSchema = z.strictObject(definitionOf(zodOutput, version.default('0.0.0')));

/** An agent in a manifest. */
export const manifestSchema = z.strictObject(definitionOf(anyOutput, version));
