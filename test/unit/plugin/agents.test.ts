import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { openCatalogs } from '../../../src/plugin/backends.ts';
import { parseConfig } from '../../../src/plugin/config.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';

/** An MCP server whose tool is described by what a file says when it is started. */
const SERVER = `
  import { readFileSync } from 'node:fs';
  import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
  import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
  const server = new McpServer({ name: 'test', version: '1' });
  server.registerTool('look', { description: readFileSync(process.argv[1], 'utf8') }, () => ({ content: [] }));
  await server.connect(new StdioServerTransport());
`;

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'agents-'));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(dir, { recursive: true, force: true });
});

describe('an agent of the config', () => {
  it('P3: is sealed with the tools of MCP servers as they are, or were within the last minute', async () => {
    const file = join(dir, 'says');
    const server = { command: process.execPath, args: ['--input-type=module', '-e', SERVER, file] };
    const agent = { name: 'own', model: 'm', instructions: 'Look.', tools: ['files/*'] };
    const models = { m: scriptedModel(() => ({ text: 'done' })) };
    const { agents } = openCatalogs(
      parseConfig({ models, mcp: { files: server }, agents: [agent] }, null),
      memoryStores(),
    );
    const began = performance.now();
    const clock = jest.spyOn(performance, 'now');
    const seen = async (afterMs: number) => {
      clock.mockReturnValue(began + afterMs);
      const { sealed } = await agents.resolve('own');
      return sealed?.pinned.tools.map(({ description }) => description);
    };
    await writeFile(file, 'Before.');
    expect(await seen(0)).toEqual(['Before.']);
    await writeFile(file, 'After.');
    expect(await seen(59_999)).toEqual(['Before.']);
    expect(await seen(60_000)).toEqual(['After.']);
  });
});
