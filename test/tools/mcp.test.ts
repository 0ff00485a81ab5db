import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import type { McpServerDefinition } from '../../src/agent/mcp.ts';
import { type ToolContext, defineTool } from '../../src/agent/tool.ts';
import { ConfigInvalidError, InvalidToolInputError, ToolOutcomeUnknownError } from '../../src/contract/errors.ts';
import type { Tool, Tools } from '../../src/ports/tools.ts';
import type { Json } from '../../src/session/json.ts';
import { type ToolsetConfig, describeTools, toolset } from '../../src/tools/toolset.ts';
import { testServer } from '../support/mcp-server.ts';

const serverFile = join(import.meta.dirname, '../support/mcp-server.ts');
let dir = '';
let journal = '';
const opened: Tools[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'apomesh-mcp-'));
  journal = join(dir, 'journal');
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((tools) => tools.close()));
  await rm(journal, { force: true });
});
afterAll(async () => {
  await rm(dir, { recursive: true });
});

const open = async (config: ToolsetConfig): Promise<Tools> => {
  const tools = await toolset(config);
  opened.push(tools);
  return tools;
};
const stdio = (more: Partial<McpServerDefinition> = {}): McpServerDefinition => ({
  command: process.execPath,
  args: [serverFile, journal],
  ...more,
});
const named = (tools: Tools, name: string): Tool => {
  const tool = tools.tool(name);
  if (!tool) throw new Error(`no ${name}`);
  return tool;
};
const context = (signal = new AbortController().signal): ToolContext => ({
  key: 'sha256:key',
  signal,
  agent: 's/root-1',
  session: 's',
  log: () => undefined,
});
const run = (tools: Tools, name: string, args: Json = {}, signal?: AbortSignal) =>
  named(tools, name).run(args, context(signal));
const journaled = async () => (await readFile(journal, 'utf8').catch(() => '')).split('\n').filter(Boolean);
const waitFor = async (line: string) => {
  for (let i = 0; i < 100; i++) {
    if ((await journaled()).includes(line)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${line} was not seen; seen: ${await journaled()}`);
};
const isRunning = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const pidOf = async (tools: Tools) => Number(String(await run(tools, 'echo', { say: '' })).split('\n').at(-1));

describe('what an MCP tool is', () => {
  it('E1: an effect, whatever the server says of itself', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    expect(named(tools, 'echo')).toMatchObject({ class: 'effect', idempotent: false, onDoubt: 'ask', timeoutMs: 60_000 });
    expect(named(tools, 'put')).toMatchObject({ class: 'effect', idempotent: false, description: 'Puts it.' });
    expect(named(tools, 'echo').reconcile).toBeNull();
  });

  it('E1: what the hints say, where the config trusts the server', async () => {
    const tools = await open({ mcp: { test: stdio({ trust: true }) } });
    expect(named(tools, 'echo')).toMatchObject({ class: 'read', idempotent: false });
    expect(named(tools, 'put')).toMatchObject({ class: 'effect', idempotent: true });
    expect(named(tools, 'slow')).toMatchObject({ class: 'effect', idempotent: false });
  });

  it('E1: what the config says, before any hint', async () => {
    const approval = ({ say }: { say: string }) => say === 'no';
    const tools = await open({
      mcp: {
        test: stdio({
          trust: true,
          effects: { echo: 'effect', slow: 'read' },
          tools: { put: { idempotent: false, onDoubt: 'tell', timeout: '3s' }, echo: { approval } },
        }),
      },
    });
    expect(named(tools, 'echo').class).toBe('effect');
    expect(named(tools, 'slow').class).toBe('read');
    expect(named(tools, 'put')).toMatchObject({ idempotent: false, onDoubt: 'tell', timeoutMs: 3000 });
    expect([{ say: 'no' }, { say: 'yes' }].map((args) => named(tools, 'echo').approval(args))).toEqual([true, false]);
    expect(named(tools, 'put').approval({})).toBe(false);
  });
});

describe('calling an MCP tool', () => {
  it('E2: gives the server the effect key, and what it answers in its plainest form', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    expect(await run(tools, 'echo', { say: 'hi' })).toMatch(/^hi\nsha256:key\n\d+$/);
    expect(await run(tools, 'put')).toEqual({ put: true });
    expect(await run(tools, 'picture')).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ]);
  });

  it('W6: an error of the tool is thrown with its text', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    const error = await run(tools, 'refuse').catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'Error', message: 'the disk\nis full' });
  });

  it('H4: arguments that do not fit never reach the server', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    expect(named(tools, 'echo').check({ say: 'hi' })).toBeNull();
    expect(named(tools, 'echo').check({ say: 3 })).toMatch(/say must be string/);
    expect(named(tools, 'echo').check({})).toMatch(/required property 'say'/);
    expect(named(tools, 'echo').check([])).toMatch(/object/);
    await expect(run(tools, 'echo', { say: 3 })).rejects.toThrow(InvalidToolInputError);
    expect(await journaled()).toEqual([]);
  });

  it('W0: an abort ends the wait with its reason, and reaches the server', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    const controller = new AbortController();
    const reason = new Error('cancelled by a person');
    const running = run(tools, 'slow', {}, controller.signal);
    await waitFor('began slow');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await waitFor('cancelled slow');
  });

  it('E4: a call that is not answered in time is in doubt', async () => {
    const tools = await open({ mcp: { test: stdio({ tools: { slow: { timeout: 300 } } }) } });
    const start = performance.now();
    const error = await run(tools, 'slow').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ToolOutcomeUnknownError);
    expect(String(error)).toMatch(/server test did not answer in time.*slow/);
    expect(performance.now() - start).toBeLessThan(1400);
  });

  it('E4: a server that dies in a call leaves it in doubt, and is started again for the next', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    const before = await pidOf(tools);
    const [slow, die] = await Promise.allSettled([run(tools, 'slow'), run(tools, 'die')]);
    for (const result of [slow, die]) {
      expect(result).toMatchObject({ status: 'rejected', reason: expect.any(ToolOutcomeUnknownError) });
    }
    const pids = await Promise.all([pidOf(tools), pidOf(tools), pidOf(tools)]);
    expect(new Set(pids).size).toBe(1);
    expect(pids[0]).not.toBe(before);
  });

  it('W1: a server that was killed between calls is started again', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    const before = await pidOf(tools);
    process.kill(before, 'SIGKILL');
    while (isRunning(before)) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await pidOf(tools)).not.toBe(before);
  });

  it('W5: closing ends the server, and nothing starts it again', async () => {
    const tools = await open({ mcp: { test: stdio() } });
    const pid = await pidOf(tools);
    await tools.close();
    expect(isRunning(pid)).toBe(false);
    await expect(run(tools, 'echo', { say: 'hi' })).rejects.toThrow(/closed/);
  });
});

describe('a set of tools', () => {
  const note = defineTool({ name: 'note', description: 'Notes.', input: z.object({}), run: () => null });
  const echo = defineTool({ name: 'echo', description: 'Other.', input: z.object({}), run: () => null });

  it('P1: resolves names and server/* in order, each once', async () => {
    const tools = await open({ tools: [note], mcp: { test: stdio(), more: stdio({ prefix: 'more_' }) } });
    const names = (list: readonly string[]) => tools.resolve(list).map((tool) => tool.name);
    const all = ['echo', 'put', 'refuse', 'picture', 'slow', 'die'];
    expect(names(['put', 'test/*', 'note', 'put'])).toEqual(['put', 'echo', 'refuse', 'picture', 'slow', 'die', 'note']);
    expect(names(['more/*'])).toEqual(all.map((name) => `more_${name}`));
    expect(names([])).toEqual([]);
    expect(tools.names).toHaveLength(13);
    expect(() => names(['note', 'nope', 'files/*'])).toThrow(/no tool nope, files\/\*; there is note, .*test\/\*, more\/\*/);
    expect(() => names(['*'])).toThrow(ConfigInvalidError);
  });

  it.each([
    ['a tool and a server', { tools: [note, echo], mcp: { test: stdio() } }, /mcp\.test: the tool echo is in tools too/],
    ['two servers', { mcp: { a: stdio(), b: stdio() } }, /mcp\.b: the tool echo is in mcp\.a too.*prefix/],
    ['two tools', { tools: [note, note] }, /tools: the tool note/],
  ])('P1: a name that %s both have is refused, naming both', async (_, config, message) => {
    const refused = toolset(config);
    await expect(refused).rejects.toThrow(ConfigInvalidError);
    await expect(refused).rejects.toThrow(message);
  });

  it('P1: describes tools as they are pinned, starting only the servers it takes', async () => {
    const config = { tools: [note], mcp: { test: stdio(), absent: { command: '/nowhere/server' } } };
    expect(await describeTools(config, ['note'])).toEqual([
      { name: 'note', description: 'Notes.', class: 'effect', input: expect.objectContaining({ type: 'object' }) },
    ]);
    expect((await describeTools(config, ['note', 'test/*'])).map(({ name }) => name)).toContain('put');
    expect(await journaled()).toEqual(['ended']);
    await expect(describeTools(config, ['put'])).rejects.toThrow(/absent/);
  });
});

describe('a server that is wrong', () => {
  it.each<[string, McpServerDefinition | object, RegExp]>([
    ['is not there', { command: '/nowhere/server', args: ['--x'] }, /mcp\.files: .*\/nowhere\/server.*ENOENT/],
    ['ends at once', { command: process.execPath, args: [serverFile, '', 'broken'] }, /mcp\.files: .*no licence found/],
    ['is silent', { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 9e6)'], connectTimeout: 300 }, /timed out/],
    ['is not reached', { url: 'http://127.0.0.1:1/mcp?token=secret' }, /mcp\.files: .*http:\/\/127\.0\.0\.1:1\/mcp\)/],
    ['has no address', { url: 'files' }, /mcp\.files\.url: "files"/],
    ['says nothing', {}, /mcp\.files: give either/],
    ['says both', { command: 'x', url: 'http://x' }, /mcp\.files: give either/],
  ])('P1: one that %s is named', async (_, definition, message) => {
    const refused = toolset({ mcp: { files: definition as McpServerDefinition } });
    await expect(refused).rejects.toThrow(ConfigInvalidError);
    await expect(refused).rejects.toThrow(message);
  });

  it('E1: an option for a tool that the server has not is refused', async () => {
    await expect(toolset({ mcp: { test: stdio({ effects: { ecko: 'read' } }) } })).rejects.toThrow(
      /mcp\.test\.effects: the server has no tool ecko; it has echo, put/,
    );
    await expect(toolset({ mcp: { test: stdio({ tools: { ecko: {} } }) } })).rejects.toThrow(/mcp\.test\.tools/);
    await expect(toolset({ mcp: { test: stdio({ effects: { echo: 'write' as never } }) } })).rejects.toThrow(/"write"/);
    await expect(toolset({ mcp: { 'a/b': stdio() } })).rejects.toThrow(/mcp\.a\/b/);
  });

  it('W5: the other servers are ended when one cannot be reached', async () => {
    await expect(toolset({ mcp: { test: stdio(), absent: { command: '/nowhere/server' } } })).rejects.toThrow(/absent/);
    expect(await journaled()).toEqual(['ended']);
  });
});

describe('a server over HTTP', () => {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const headers: (string | undefined)[] = [];
  const server = createServer(async (request, response) => {
    headers.push(request.headers['x-api-key'] as string | undefined);
    const id = request.headers['mcp-session-id'] as string | undefined;
    const known = id === undefined ? undefined : sessions.get(id);
    if (id !== undefined && !known) return response.writeHead(404).end();
    if (known) return known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (session) => void sessions.set(session, transport),
      onsessionclosed: (session) => void sessions.delete(session),
    });
    await testServer(journal).connect(transport as never);
    return transport.handleRequest(request, response);
  });
  let url = '';

  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  it('E1: offers its tools, with the headers of the config', async () => {
    const tools = await open({ mcp: { remote: { url, headers: { 'x-api-key': 'abc' } } } });
    expect(await run(tools, 'echo', { say: 'hi' })).toMatch(/^hi\nsha256:key/);
    expect(new Set(headers)).toEqual(new Set(['abc']));
    await tools.close();
    expect(sessions.size).toBe(0);
  });

  it('W1: a server that has lost the session is connected to again, and the call made once', async () => {
    const tools = await open({ mcp: { remote: { url } } });
    sessions.clear();
    expect(await Promise.all([run(tools, 'put'), run(tools, 'put')])).toEqual([{ put: true }, { put: true }]);
    expect(await journaled()).toEqual(['ran put', 'ran put']);
    expect(sessions.size).toBe(1);
  });

  it('E4: a connection that breaks in a call leaves it in doubt', async () => {
    const tools = await open({ mcp: { remote: { url, tools: { slow: { timeout: 700 } } } } });
    const running = run(tools, 'slow');
    await waitFor('began slow');
    server.closeAllConnections();
    await expect(running).rejects.toThrow(ToolOutcomeUnknownError);
  });
});

describe('the filesystem server', () => {
  it('E1: reads and writes for real, and says what is wrong', async () => {
    const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
    await writeFile(join(dir, 'a.md'), '# A\n');
    const effects = { read_text_file: 'read', list_directory: 'read' } as const;
    const files = { command: process.execPath, args: [main, dir], cwd: dirname(dir), effects };
    const tools = await open({ mcp: { files } });
    expect(await run(tools, 'read_text_file', { path: 'a.md' })).toEqual({ content: '# A\n' });
    expect(await run(tools, 'list_directory', { path: '.' })).toEqual({ content: '[FILE] a.md' });
    await run(tools, 'write_file', { path: 'b.md', content: '# B\n' });
    expect(await readFile(join(dir, 'b.md'), 'utf8')).toBe('# B\n');
    await expect(run(tools, 'read_text_file', { path: '/etc/passwd' })).rejects.toThrow(/Access denied/);
    expect(named(tools, 'write_file').check({ path: 'x' })).toMatch(/content/);
    expect(named(tools, 'edit_file').class).toBe('effect');
    expect(named(tools, 'read_text_file').class).toBe('read');
  });
});
