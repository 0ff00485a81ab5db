import { builtInTools } from '../agent/built-in.ts';
import type { McpServerDefinition } from '../agent/mcp.ts';
import type { PinnedTool } from '../agent/shape.ts';
import type { ToolDefinition } from '../agent/tool.ts';
import { ConfigInvalidError } from '../contract/errors.ts';
import type { Tool, Tools } from '../ports/tools.ts';
import { offeredBuiltIn } from './built-in.ts';
import { type McpTools, mcpTools } from './mcp.ts';
import { zodTool } from './zod.ts';

/** What a config says of tools. */
export interface ToolsetConfig {
  readonly tools?: readonly ToolDefinition[];
  readonly mcp?: Readonly<Record<string, McpServerDefinition>>;
}

const noServers: McpTools = { byServer: new Map(), close: async () => undefined };

/**
 * All tools of a worker, its MCP servers started and their tools listed.
 *
 * @throws {ConfigInvalidError} naming what is wrong, of a name that two have both. Nothing is left running then.
 */
export async function toolset({ tools = [], mcp = {} }: ToolsetConfig): Promise<Tools> {
  const own = tools.map((definition) => zodTool(definition));
  const servers = Object.keys(mcp).length > 0 ? await mcpTools(mcp) : noServers;
  try {
    return new Toolset(own, servers);
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/**
 * What the tools of several lists look like, to pin them, each list in the order asked. Starts the MCP servers that this takes, and
 * ends them again.
 */
export async function describeTools(
  config: ToolsetConfig,
  lists: readonly (readonly string[])[],
): Promise<PinnedTool[][]> {
  const opened = await toolset({ ...config, mcp: neededServers(config, lists.flat()) });
  try {
    return lists.map((names) => opened.resolve(names).map(describeTool));
  } finally {
    await opened.close();
  }
}

/** A tool as an agent sees it. */
export function describeTool({ name, description, class: toolClass, inputSchema }: Tool): PinnedTool {
  return { name, description, class: toolClass, input: inputSchema };
}

/** The servers that `server/*` names, and all of them where a name is no tool of ours. */
function neededServers(
  { tools = [], mcp = {} }: ToolsetConfig,
  names: readonly string[],
): Readonly<Record<string, McpServerDefinition>> {
  const own = new Set(tools.map((tool) => tool.name));
  const servers = names.map(serverOf);
  if (names.some((name, i) => servers[i] === null && !own.has(name) && !builtInTools.has(name))) return mcp;
  return Object.fromEntries(Object.entries(mcp).filter(([server]) => servers.includes(server)));
}

/** `files` of `files/*`, null of anything else. */
const serverOf = (name: string): string | null => (name.endsWith('/*') ? name.slice(0, -2) : null);

class Toolset implements Tools {
  readonly #tools = new Map<string, Tool>();
  readonly #builtIn = new Map(offeredBuiltIn().map((tool) => [tool.name, tool]));
  readonly #servers: McpTools;

  constructor(own: readonly Tool[], servers: McpTools) {
    this.#servers = servers;
    const places = new Map([...this.#builtIn.keys()].map((name) => [name, 'apomesh']));
    const add = (tool: Tool, place: string) => {
      const other = places.get(tool.name);
      if (other !== undefined) {
        const advice = 'rename one, or give the server a prefix';
        throw new ConfigInvalidError(place, `the tool ${tool.name} is in ${other} too; ${advice}.`);
      }
      places.set(tool.name, place);
      this.#tools.set(tool.name, tool);
    };
    for (const tool of own) add(tool, 'tools');
    for (const [server, tools] of servers.byServer) for (const tool of tools) add(tool, `mcp.${server}`);
  }

  get names(): readonly string[] {
    return [...this.#tools.keys()];
  }

  tool(name: string): Tool | null {
    return this.#tools.get(name) ?? this.#builtIn.get(name) ?? null;
  }

  resolve(names: readonly string[]): readonly Tool[] {
    const missing: string[] = [];
    const found = names.flatMap((name) => {
      const tool = this.tool(name);
      if (tool) return [tool];
      const tools = this.#servers.byServer.get(serverOf(name) ?? '');
      if (!tools) missing.push(name);
      return tools ?? [];
    });
    if (missing.length === 0) return [...new Set(found)];
    const available = [...this.names, ...[...this.#servers.byServer.keys()].map((server) => `${server}/*`)];
    throw new ConfigInvalidError(
      'tools',
      `there is no tool ${missing.join(', ')}; there is ${available.join(', ') || 'none'}.`,
    );
  }

  async close(): Promise<void> {
    await this.#servers.close();
  }
}
