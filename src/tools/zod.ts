import { z } from 'zod';
import type { ToolContext, ToolDefinition } from '../agent/tool.ts';
import { ConfigInvalidError, InvalidToolInputError } from '../contract/errors.ts';
import type { Tool } from '../ports/tools.ts';
import type { Json, JsonObject } from '../session/json.ts';
import { needsApproval, resolveToolOptions } from './options.ts';

/** What models and providers take as the name of a tool. */
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * A tool written in TypeScript, as this worker runs it. Defaults and transforms of the schema apply to what `run`,
 * `reconcile` and an `approval` predicate get.
 *
 * @throws {ConfigInvalidError} naming the field, where the definition is wrong.
 */
export function zodTool<Input extends z.ZodType>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input, approval, reconcile } = definition;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) {
    throw new ConfigInvalidError(
      'tools',
      `${JSON.stringify(name)} is no name of a tool; use 1 to 64 of A-Z a-z 0-9 _ -.`,
    );
  }
  const field = `tools.${name}`;
  if (typeof description !== 'string') throw new ConfigInvalidError(`${field}.description`, 'is missing.');
  if (typeof definition.run !== 'function') throw new ConfigInvalidError(`${field}.run`, 'is no function.');

  /** Null where only an asynchronous parse can tell: `run` does that one. */
  const parse = (args: Json) => {
    try {
      return input.safeParse(args);
    } catch (error) {
      if (error instanceof z.core.$ZodAsyncError) return null;
      throw new InvalidToolInputError(name, `the check itself failed: ${textOf(error)}`);
    }
  };
  const parsed = async (args: Json): Promise<z.output<Input>> => {
    const result = await input.safeParseAsync(args);
    if (result.success) return result.data;
    throw new InvalidToolInputError(name, z.prettifyError(result.error));
  };

  return {
    ...resolveToolOptions(field, definition),
    name,
    description,
    inputSchema: inputSchema(field, input),
    approval(args) {
      if (typeof approval !== 'function') return approval ?? false;
      const result = parse(args);
      return result?.success ? needsApproval(approval, result.data) : true;
    },
    check(args) {
      try {
        const result = parse(args);
        return result?.success === false ? z.prettifyError(result.error) : null;
      } catch (error) {
        return textOf(error);
      }
    },
    run: async (args: Json, context: ToolContext) => definition.run(await parsed(args), context),
    reconcile: reconcile ? async (args, context) => reconcile.call(definition, await parsed(args), context) : null,
  };
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function inputSchema(field: string, input: z.ZodType): JsonObject {
  if (!(input instanceof z.ZodType)) throw new ConfigInvalidError(`${field}.input`, 'is no schema of zod 4.');
  let schema: JsonObject;
  try {
    // Draft 7 is what the AI SDK's tools are described in. The round trip leaves only what JSON carries.
    schema = JSON.parse(JSON.stringify(z.toJSONSchema(input, { io: 'input', target: 'draft-7' })));
  } catch (error) {
    throw new ConfigInvalidError(`${field}.input`, `${textOf(error)}; a model can only give what JSON carries.`);
  }
  if ('type' in schema && schema['type'] !== 'object') {
    throw new ConfigInvalidError(
      `${field}.input`,
      `is ${JSON.stringify(schema['type'])}; models call tools with an object.`,
    );
  }
  return schema;
}
