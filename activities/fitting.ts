import type { PinnedTool } from '../src/agent/shape.ts';
import { ToolChangedError, ToolMissingError } from '../src/contract/errors.ts';
import type { Tool, Tools } from '../src/ports/tools.ts';
import { bodyDigest } from '../src/session/digest.ts';

/**
 * The tool of this worker that a session was pinned with. What decides how a call is made must be the same: the input's schema and
 * the class. Its description need not, as the model is shown the pinned one.
 *
 * @throws {ToolMissingError} {@link ToolChangedError} rather than to run a different agent.
 */
export function fitting(tools: Pick<Tools, 'tool'>, { name, input, class: toolClass }: PinnedTool): Tool {
  const tool = tools.tool(name);
  if (tool === null) throw new ToolMissingError(name);
  if (tool.class !== toolClass) throw new ToolChangedError(name, `is of class ${tool.class}, and not ${toolClass}`);
  if (schemaOf(tool.inputSchema) !== schemaOf(input)) throw new ToolChangedError(name, 'has another input schema');
  return tool;
}

/** Digests of schemas, each made once. */
const schemas = new WeakMap<object, string>();

function schemaOf(schema: PinnedTool['input']): string {
  let digest = schemas.get(schema);
  digest ??= bodyDigest(schema);
  schemas.set(schema, digest);
  return digest;
}
