import { z } from 'zod';
import { UnserializableValueError } from '../contract/errors.ts';
import { outputFault } from '../models/output.ts';
import { assertJson } from '../session/canonical-json.ts';
import type { JsonObject } from '../session/json.ts';
import { problemOf } from './problems.ts';

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] as const;
const typeName = z.enum(types, { error: `must be one of ${types.join(', ')}` });
const notSchema = { error: 'must be a JSON schema, such as { "type": "object", "properties": {} }' };

/** What a value must be by its own look, each problem where it is. */
const checkedBy = (shapeOf: (value: unknown) => z.ZodType | null): z.ZodType =>
  z.unknown().superRefine((value, context) => {
    for (const issue of shapeOf(value)?.safeParse(value).error?.issues ?? [])
      context.addIssue({ code: 'custom', message: problemOf(issue).why, path: [...issue.path] });
  });

/** A schema within a schema, which may be true or false. */
const within = checkedBy((value) => (typeof value === 'boolean' ? null : form));
const some = z.array(within).min(1, { error: 'must have one at least' });
const named = z.record(z.string(), within);
const count = z.int({ error: 'must be a whole number' }).min(0, { error: 'must be 0 or more' });

/** What the keywords of JSON Schema must be; others are left alone. */
const form: z.ZodType = z.looseObject(
  {
    type: z.union([typeName, z.array(typeName).min(1)], { error: `must be one of ${types.join(', ')}` }).optional(),
    enum: z.array(z.unknown()).min(1, { error: 'must have one at least' }).optional(),
    ...keywords(['properties', 'patternProperties', '$defs', 'definitions'], named),
    ...keywords(['allOf', 'anyOf', 'oneOf', 'prefixItems'], some),
    ...keywords(['additionalProperties', 'propertyNames', 'contains', 'not', 'additionalItems'], within),
    items: checkedBy((value) => (Array.isArray(value) ? some : within)).optional(),
    required: z.array(z.string()).optional(),
    ...keywords(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'], count),
    ...keywords(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], z.number()),
    multipleOf: z.number().positive({ error: 'must be more than 0' }).optional(),
    ...keywords(['pattern', 'format', '$ref', 'title', 'description'], z.string()),
    uniqueItems: z.boolean().optional(),
  },
  notSchema,
);

function keywords<T extends z.ZodType>(names: readonly string[], shape: T): Record<string, z.ZodOptional<T>> {
  return Object.fromEntries(names.map((name) => [name, shape.optional()]));
}

/** The JSON schema of an output: plain JSON, in the form that JSON Schema has, and one that answers can be checked against. */
export const outputSchema = z
  .custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), notSchema)
  .superRefine((schema, context) => {
    const fail = (message: string, path: PropertyKey[] = []) => context.addIssue({ code: 'custom', message, path });
    const unfit = unserializable(schema);
    if (unfit !== null) return fail(unfit);
    const issues = form.safeParse(schema).error?.issues ?? [];
    for (const issue of issues) fail(problemOf(issue).why, [...issue.path]);
    const fault = issues.length > 0 ? null : outputFault(schema);
    if (fault !== null) fail(`answers cannot be checked against it: ${fault}`);
  });

function unserializable(schema: unknown): string | null {
  try {
    assertJson(schema);
    return null;
  } catch (error) {
    if (!(error instanceof UnserializableValueError)) throw error;
    return `holds ${String(error.fields['found'])} at ${String(error.fields['path'])}, which JSON cannot carry`;
  }
}
