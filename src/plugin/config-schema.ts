import ms from 'ms';
import { z } from 'zod';
import { agentSchema } from './agent-schema.ts';
import { limitRanges, type ResolvedLimits, scanInterval } from './limits.ts';
import { duration, wholePositive } from './schema-parts.ts';

const DATABASE_NAME = /^[^/\\. "$*<>:|?\0]{1,63}$/;

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
    maxBundleBytes: countWithin(limitRanges.maxBundleBytes),
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
      maxBundleBytes: limits.maxBundleBytes,
      sliceNodes: limits.sliceNodes,
      sliceTimeMs: limits.sliceTime,
      doubtGraceMs: limits.doubtGrace,
      stickyQueueTimeoutMs: limits.stickyQueueTimeout,
      shutdownGraceMs: limits.shutdownGrace,
    }),
  );

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
  skills: z.string().min(1, { error: 'is the path of a folder' }).nullable().default(null),
  limits: limitsSchema.prefault({}),
  recovery: z.union([z.literal(false), z.strictObject({ every: timeWithin(scanInterval) })]).prefault({}),
  deployment: z
    .strictObject({
      // Temporal writes a version as `name.buildId`.
      name: z.string().regex(/^[^.:]+$/, { error: 'is no name of a deployment: it has characters other than . and :' }),
      buildId: z.string().min(1, { error: 'is missing; give what tells this build from others' }),
    })
    .optional(),
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
