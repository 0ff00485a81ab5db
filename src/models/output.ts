import { z } from 'zod';
import { UnserializableValueError } from '../contract/errors.ts';
import { assertJson } from '../session/canonical-json.ts';
import type { Json, JsonObject } from '../session/json.ts';

/** What a final answer comes to. */
export interface CheckedOutput {
  /** The answer; null where there is none that fits. */
  readonly answer: Json;
  /** What to tell a model whose answer does not fit the output's shape, or null. */
  readonly misfit: string | null;
}

/**
 * Reads a final answer: text as it is, or where a JSON schema is asked for the JSON value that fits it. An answer that was
 * cut off or filtered is not judged: its finish says enough.
 */
export function checkOutput(text: string, finish: string, schema: JsonObject | null): CheckedOutput {
  if (schema === null) return { answer: text, misfit: null };
  if (finish === 'length' || finish === 'content-filter' || finish === 'error') return { answer: text, misfit: null };
  let answer: Json;
  try {
    answer = JSON.parse(text) as Json;
    assertJson(answer);
  } catch (error) {
    if (error instanceof UnserializableValueError)
      return misfit(`it holds ${String(error.fields['found'])} at ${String(error.fields['path'])}`);
    return misfit(`it is not JSON (${(error as Error).message})`);
  }
  const fits = validator(schema).safeParse(answer);
  return fits.success ? { answer, misfit: null } : misfit(z.prettifyError(fits.error));
}

const misfit = (why: string): CheckedOutput => ({
  answer: null,
  misfit: `Your final answer does not fit the shape asked for: ${why}. Answer again with only a JSON value that fits.`,
});

/** Why no answer can be checked against a JSON schema; null where answers can. */
export function outputFault(schema: JsonObject): string | null {
  try {
    validator(schema);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const validators = new WeakMap<JsonObject, z.ZodType>();

function validator(schema: JsonObject): z.ZodType {
  let made = validators.get(schema);
  if (!made) {
    made = z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema);
    validators.set(schema, made);
  }
  return made;
}
