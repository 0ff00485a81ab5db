import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { ToolOutcomeUnknownError } from '../../src/contract/errors.ts';
import { mcpFixture, run } from '../support/mcp-fixture.ts';
import { testServer } from '../support/mcp-server.ts';

const mcp = mcpFixture();

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
    await testServer(mcp.journal).connect(transport as never);
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
    const tools = await mcp.open({ mcp: { remote: { url, headers: { 'x-api-key': 'abc' } } } });
    expect(await run(tools, 'echo', { say: 'hi' })).toMatch(/^hi\nsha256:key/);
    expect(new Set(headers)).toEqual(new Set(['abc']));
    await tools.close();
    expect(sessions.size).toBe(0);
  });

  it('W1: a server that has lost the session is connected to again, and the call made once', async () => {
    const tools = await mcp.open({ mcp: { remote: { url } } });
    sessions.clear();
    expect(await Promise.all([run(tools, 'put'), run(tools, 'put')])).toEqual([{ put: true }, { put: true }]);
    expect(await mcp.journaled()).toEqual(['ran put', 'ran put']);
    expect(sessions.size).toBe(1);
  });

  it('E4: a connection that breaks in a call leaves it in doubt', async () => {
    const tools = await mcp.open({ mcp: { remote: { url, tools: { slow: { timeout: 700 } } } } });
    const running = run(tools, 'slow');
    await mcp.waitFor('began slow');
    server.closeAllConnections();
    await expect(running).rejects.toThrow(ToolOutcomeUnknownError);
  });
});
