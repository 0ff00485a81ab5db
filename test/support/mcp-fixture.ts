import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { McpServerDefinition } from '../../src/agent/mcp.ts';
import type { ToolContext } from '../../src/agent/tool.ts';
import type { Tool, Tools } from '../../src/ports/tools.ts';
import type { Json } from '../../src/session/json.ts';
import { type ToolsetConfig, toolset } from '../../src/tools/toolset.ts';

export const serverFile = join(import.meta.dirname, 'mcp-server.ts');

export const named = (tools: Tools, name: string): Tool => {
  const tool = tools.tool(name);
  if (!tool) throw new Error(`no ${name}`);
  return tool;
};

export const toolContext = (signal = new AbortController().signal): ToolContext => ({
  key: 'sha256:key',
  signal,
  agent: 's/root-1',
  session: 's',
  log: () => undefined,
});

export const run = (tools: Tools, name: string, args: Json = {}, signal?: AbortSignal) =>
  named(tools, name).run(args, toolContext(signal));

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

export const pidOf = async (tools: Tools): Promise<number> => {
  const said = await run(tools, 'echo', { say: '' });
  return Number(String(said).split('\n').at(-1));
};

/** A folder and a journal for the tests of one file; what they open is closed after each. */
export function mcpFixture() {
  const opened: Tools[] = [];
  const fixture = {
    dir: '',
    /** Where the test server notes its calls. */
    journal: '',
    async open(config: ToolsetConfig): Promise<Tools> {
      const tools = await toolset(config);
      opened.push(tools);
      return tools;
    },
    /** The test server, started as a child process. */
    stdio: (more: Partial<McpServerDefinition> = {}): McpServerDefinition => ({
      command: process.execPath,
      args: [serverFile, fixture.journal],
      ...more,
    }),
    async journaled(): Promise<string[]> {
      const text = await readFile(fixture.journal, 'utf8').catch(() => '');
      return text.split('\n').filter(Boolean);
    },
    async waitFor(line: string): Promise<void> {
      for (let i = 0; i < 100; i++) {
        if ((await fixture.journaled()).includes(line)) return;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      throw new Error(`${line} was not seen; seen: ${await fixture.journaled()}`);
    },
  };
  beforeAll(async () => {
    fixture.dir = await mkdtemp(join(tmpdir(), 'apomesh-mcp-'));
    fixture.journal = join(fixture.dir, 'journal');
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((tools) => tools.close()));
    await rm(fixture.journal, { force: true });
  });
  afterAll(async () => {
    await rm(fixture.dir, { recursive: true });
  });
  return fixture;
}
