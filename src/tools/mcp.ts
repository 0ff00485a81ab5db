import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerDefinition } from '../agent/mcp.ts';
import type { ToolOptions } from '../agent/tool.ts';
import { ConfigInvalidError, InvalidToolInputError, WorkerShutdownError } from '../contract/errors.ts';
import type { Tool } from '../ports/tools.ts';
import type { Json, JsonObject } from '../session/json.ts';
import { McpConnection } from './mcp-connection.ts';
import { durationMs, needsApproval, resolveToolOptions } from './options.ts';

type Check = (args: Json) => string | null;
type Checker = (schema: ListedTool['inputSchema']) => Check;

/** The tools of several MCP servers, all of them connected. */
export interface McpTools {
  readonly byServer: ReadonlyMap<string, readonly Tool[]>;
  /** Ends the servers that were started here. */
  close(): Promise<void>;
}

/**
 * Connects MCP servers, in parallel, and lists their tools. A server that dies later is started again at its next use.
 *
 * @throws {ConfigInvalidError} naming the server that cannot be reached, or the entry that does not fit what it offers.
 */
export async function mcpTools(servers: Readonly<Record<string, McpServerDefinition>>): Promise<McpTools> {
  const connections: McpConnection[] = [];
  const close = async () => {
    await Promise.all(connections.map((connection) => connection.close()));
  };
  const connect = async ([server, definition]: [string, McpServerDefinition]) => {
    const field = `mcp.${server}`;
    checkDefinition(field, server, definition);
    const timeoutMs = durationMs(`${field}.connectTimeout`, definition.connectTimeout, 30_000);
    const connection = new McpConnection(server, definition, timeoutMs);
    connections.push(connection);
    const listed = await connection.list().catch((error: unknown) => {
      const args =
        'args' in definition ? ` (started as ${[definition.command, ...(definition.args ?? [])].join(' ')})` : '';
      throw new ConfigInvalidError(field, (error instanceof Error ? error.message : String(error)) + args);
    });
    return [server, await toolsOf(field, definition, connection, listed)] as const;
  };
  const results = await Promise.allSettled(Object.entries(servers).map(connect));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  const byServer = new Map(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
  return { byServer, close };
}

function checkDefinition(field: string, server: string, definition: McpServerDefinition): void {
  if (server === '' || /[/*]/.test(server))
    throw new ConfigInvalidError(field, 'the name of a server has no / and no *.');
  const { command, url } = definition as { command?: unknown; url?: unknown };
  if ((command === undefined) === (url === undefined)) {
    throw new ConfigInvalidError(field, 'give either command (a program to start) or url (a server that runs).');
  }
  if (command !== undefined && (typeof command !== 'string' || command === '')) {
    throw new ConfigInvalidError(`${field}.command`, 'is no name of a program.');
  }
  if (url !== undefined && !/^https?:$/.test(URL.parse(String(url))?.protocol ?? '')) {
    throw new ConfigInvalidError(`${field}.url`, `${JSON.stringify(String(url))} is no http(s) address.`);
  }
}

async function toolsOf(
  field: string,
  definition: McpServerDefinition,
  connection: McpConnection,
  listed: readonly ListedTool[],
): Promise<Tool[]> {
  const offered = new Set(listed.map((tool) => tool.name));
  for (const [part, names] of [
    ['effects', definition.effects],
    ['tools', definition.tools],
  ] as const) {
    const unknown = Object.keys(names ?? {}).filter((name) => !offered.has(name));
    if (unknown.length === 0) continue;
    const available = [...offered].join(', ') || 'none';
    throw new ConfigInvalidError(
      `${field}.${part}`,
      `the server has no tool ${unknown.join(', ')}; it has ${available}.`,
    );
  }
  const checker = await schemaChecker();
  return listed.map((tool) => mcpTool(field, definition, connection, tool, checker));
}

function mcpTool(
  field: string,
  definition: McpServerDefinition,
  connection: McpConnection,
  listed: ListedTool,
  checker: Checker,
): Tool {
  const own: ToolOptions = definition.tools?.[listed.name] ?? {};
  const hints = definition.trust === true ? listed.annotations : undefined;
  const effect = definition.effects?.[listed.name] ?? own.effect ?? (hints?.readOnlyHint === true ? 'read' : 'effect');
  const idempotent = own.idempotent ?? hints?.idempotentHint === true;
  const options = resolveToolOptions(`${field}.tools.${listed.name}`, { ...own, effect, idempotent });
  const name = `${definition.prefix ?? ''}${listed.name}`;
  let check: Check | null = null;
  const checked: Check = (args) => {
    check ??= checker(listed.inputSchema);
    return check(args);
  };
  return {
    ...options,
    name,
    description: listed.description ?? listed.title ?? '',
    inputSchema: listed.inputSchema as JsonObject,
    check: checked,
    approval: (args) => needsApproval(own.approval as boolean | ((args: Json) => boolean) | undefined, args),
    async run(args, { key, signal }) {
      const wrong = checked(args);
      if (wrong !== null) throw new InvalidToolInputError(name, wrong);
      const heeded = options.class === 'effect' ? unlessShutdown(signal) : signal;
      const { timeoutMs } = options;
      return resultOf(await connection.call({ tool: listed.name, args, key, signal: heeded, timeoutMs }));
    },
    reconcile: null,
  };
}

/** A server that is told to stop does not say whether it did: where the worker only shuts down, it is waited for (W5). */
function unlessShutdown(signal: AbortSignal): AbortSignal {
  const heeded = new AbortController();
  const onAbort = () => {
    if (!(signal.reason instanceof WorkerShutdownError)) heeded.abort(signal.reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return heeded.signal;
}

/** What a tool gave: structured content if there is any, else the text of a result of texts, else its content parts. */
function resultOf(result: CallToolResult): unknown {
  const texts = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const onlyTexts = texts.length === result.content.length;
  if (result.isError) throw new Error(onlyTexts ? texts.join('\n') : JSON.stringify(result.content));
  return result.structuredContent ?? (onlyTexts ? texts.join('\n') : result.content);
}

/** Checks arguments as the server will; a schema that cannot be used (a reference elsewhere) leaves it to the server. */
async function schemaChecker(): Promise<Checker> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/sdk/validation/ajv');
  const compile = (schema: ListedTool['inputSchema']) => {
    try {
      // One validator a schema: two schemas with the same $id must not be taken for each other.
      return new AjvJsonSchemaValidator().getValidator(schema as object);
    } catch {
      return null;
    }
  };
  return (schema) => {
    const validate = compile(schema);
    return (args) => {
      if (typeof args !== 'object' || args === null || Array.isArray(args)) return 'the arguments must be an object';
      const result = validate?.(args);
      return result?.valid === false ? result.errorMessage : null;
    };
  };
}
