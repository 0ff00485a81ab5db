import ms, { type StringValue } from 'ms';
import { z } from 'zod';
import type { Budget, DispatchMode } from '../agent/agent.ts';
import type { ResolvedBudget } from '../agent/shape.ts';
import { durabilities } from '../session/envelopes.ts';
import { limitRanges, type ResolvedLimits, scanInterval } from './limits.ts';

/** Of SemVer 2.0.0, as semver.org suggests it. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

const AGENT_NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/;
const DATABASE_NAME = /^[^/\\. "$*<>:|?\0]{1,63}$/;

const dispatchModes = ['loop', 'call'] as const satisfies readonly DispatchMode[];

/** Milliseconds of a duration. */
const duration = z
  .union([z.number(), z.string()], { error: "is no duration; write 30_000 (milliseconds) or '30 seconds'" })
  .transform((value, context) => {
    const millis = typeof value === 'number' ? value : parseText(value);
    if (Number.isFinite(millis) && millis >= 0) return millis;
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(value)} is no duration; write 30_000 or '30 seconds'`,
    });
    return z.NEVER;
  });

function parseText(text: string): number {
  try {
    return ms(text as StringValue);
  } catch {
    return Number.NaN;
  }
}

type Range = { readonly least: number; readonly most: number; readonly byDefault: number };

const fits = (range: Range) => (value: number) => value >= range.least && value <= range.most;

const timeWithin = (range: Range) =>
  duration
    .refine(fits(range), { error: `must be from ${ms(range.least)} to ${ms(range.most)}` })
    .default(range.byDefault);

const countWithin = (range: Range) =>
  z
    .int({ error: 'must be a whole number' })
    .refine(fits(range), { error: `must be from ${range.least} to ${range.most}` })
    .default(range.byDefault);

export const limitsSchema = z
  .strictObject({
    heartbeatTimeout: timeWithin(limitRanges.heartbeatTimeout),
    maxBodyBytes: countWithin(limitRanges.maxBodyBytes),
    sliceNodes: countWithin(limitRanges.sliceNodes),
    sliceTime: timeWithin(limitRanges.sliceTime),
    doubtGrace: timeWithin(limitRanges.doubtGrace),
    stickyQueueTimeout: timeWithin(limitRanges.stickyQueueTimeout),
    shutdownGrace: timeWithin(limitRanges.shutdownGrace),
  })
  .transform(
    (limits): ResolvedLimits => ({
      heartbeatTimeoutMs: limits.heartbeatTimeout,
      maxBodyBytes: limits.maxBodyBytes,
      sliceNodes: limits.sliceNodes,
      sliceTimeMs: limits.sliceTime,
      doubtGraceMs: limits.doubtGrace,
      stickyQueueTimeoutMs: limits.stickyQueueTimeout,
      shutdownGraceMs: limits.shutdownGrace,
    }),
  );

const positive = z.number().positive({ error: 'must be more than 0' });
const wholePositive = z.int({ error: 'must be a whole number' }).positive({ error: 'must be more than 0' });

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

const wellFormed = (text: string): boolean => !/\p{Cs}/u.test(text);

const outputSchema = z
  .custom<z.ZodType>((value) => value instanceof z.ZodType, { error: 'is no schema of zod 4; write z.object({...})' })
  .transform((schema, context) => {
    try {
      return JSON.parse(JSON.stringify(z.toJSONSchema(schema, { io: 'input', target: 'draft-7' })));
    } catch (error) {
      context.addIssue({
        code: 'custom',
        message: `${(error as Error).message}; a model can only give what JSON carries`,
      });
      return z.NEVER;
    }
  });

const agentSchema = z.strictObject({
  name: z.string().regex(AGENT_NAME, { error: 'must be 1 to 100 of a-z 0-9 - _ . and begin with a letter or a digit' }),
  version: z.string().regex(SEMVER, { error: 'is no semantic version; write 1.0.0' }).default('0.0.0'),
  model: z.string().min(1, { error: 'is missing; name one of models' }),
  instructions: z.string().refine(wellFormed, { error: 'has half a surrogate pair, which JSON cannot carry' }),
  tools: z.array(z.string().min(1)).default([]),
  coordination: z.literal('solo', { error: "must be 'solo'" }).default('solo'),
  budget: budgetSchema.prefault({}),
  durability: z.enum(durabilities).default('checkpointed'),
  output: outputSchema.nullable().default(null),
  dispatch: z.enum(dispatchModes).default('loop'),
});

const aFunction = z.custom<(...args: never) => unknown>((value) => typeof value === 'function', {
  error: 'must be a function',
});
const approval = z.union([z.boolean(), aFunction], { error: 'must be true, false or a function of the arguments' });
const effect = z.enum(['read', 'effect']);

const toolOptions = {
  effect: effect.optional(),
  idempotent: z.boolean().optional(),
  onDoubt: z.enum(['ask', 'tell', 'fail']).optional(),
  approval: approval.optional(),
  timeout: duration.optional(),
  retry: z
    .strictObject({
      maximumAttempts: wholePositive.optional(),
      initialInterval: duration.optional(),
      backoffCoefficient: z.number().min(1, { error: 'must be at least 1' }).optional(),
    })
    .optional(),
  taskQueue: z.string().min(1).optional(),
};

const toolSchema = z.strictObject({
  name: z.string(),
  description: z.string(),
  input: z.custom<z.ZodType>((value) => value instanceof z.ZodType, {
    error: 'is no schema of zod 4; write z.object({...})',
  }),
  ...toolOptions,
  reconcile: aFunction.optional(),
  run: aFunction,
});

const mcpOptions = {
  trust: z.boolean().optional(),
  effects: z.record(z.string(), effect).optional(),
  tools: z.record(z.string(), z.strictObject(toolOptions)).optional(),
  prefix: z.string().optional(),
  connectTimeout: duration.optional(),
};
const texts = z.record(z.string(), z.string());
const stdioServer = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).optional(),
  env: texts.optional(),
  cwd: z.string().optional(),
  ...mcpOptions,
});
const httpServer = z.strictObject({
  url: z.union([z.url({ protocol: /^https?$/ }), z.instanceof(URL)], { error: 'is no http(s) address' }),
  headers: texts.optional(),
  ...mcpOptions,
});

/** Checks the form of what stands in a config; what it gives for tools and servers has no defaults filled in. */
export const configSchema = z.strictObject({
  models: z.record(z.string(), z.unknown()).default({}),
  prices: z
    .record(
      z.string(),
      z.strictObject(
        { input: z.number().min(0), output: z.number().min(0) },
        {
          error: 'needs input and output, in US dollars per million tokens',
        },
      ),
    )
    .default({}),
  tools: z.array(toolSchema).default([]),
  mcp: z
    .record(
      z.string().regex(/^[^/*]+$/, { error: 'the name of a server has no / and no *' }),
      z.unknown().superRefine((value, context) => {
        const given = typeof value === 'object' && value !== null ? value : {};
        if ('command' in given === 'url' in given) {
          context.addIssue({
            code: 'custom',
            message: 'give either command (a program to start) or url (a server that runs)',
          });
          return;
        }
        const parsed = ('command' in given ? stdioServer : httpServer).safeParse(value);
        for (const issue of parsed.error?.issues ?? []) context.addIssue({ ...issue, input: undefined } as never);
      }),
    )
    .default({}),
  agents: z.array(agentSchema).default([]),
  limits: limitsSchema.prefault({}),
  recovery: z.union([z.literal(false), z.strictObject({ every: timeWithin(scanInterval) })]).prefault({}),
  mongo: z
    .strictObject({
      uri: z
        .string()
        .regex(/^mongodb(\+srv)?:\/\//, { error: 'must begin with mongodb:// or mongodb+srv://' })
        .optional(),
      database: z.string().regex(DATABASE_NAME, { error: 'is no name of a database' }).default('apomesh'),
    })
    .prefault({}),
});
