import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/**
 * A real MCP server for tests, with a tool for each way a call can go. Every call is noted in the file `journal`, one
 * line `<event> <tool>`.
 */
export function testServer(journal: string): McpServer {
  const note = (line: string) => appendFileSync(journal, `${line}\n`);
  const server = new McpServer({ name: 'test', version: '1' });
  const text = (...texts: string[]) => ({ content: texts.map((t) => ({ type: 'text' as const, text: t })) });

  server.registerTool(
    'echo',
    { description: 'Says it back.', inputSchema: { say: z.string() }, annotations: { readOnlyHint: true } },
    ({ say }, { _meta }) => {
      note('ran echo');
      return text(say, String(_meta?.['apomesh/key']), String(process.pid));
    },
  );
  server.registerTool('put', { title: 'Puts it.', annotations: { idempotentHint: true } }, () => {
    note('ran put');
    return { ...text('done'), structuredContent: { put: true } };
  });
  server.registerTool('refuse', {}, () => ({ ...text('the disk', 'is full'), isError: true }));
  server.registerTool('picture', {}, () => ({
    content: [
      { type: 'text', text: 'Look.' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ],
  }));
  server.registerTool('slow', {}, async ({ signal }) => {
    note('began slow');
    const onAbort = () => note('cancelled slow');
    signal.addEventListener('abort', onAbort);
    await sleep(1500);
    return text('at last');
  });
  server.registerTool('die', {}, () => {
    note('ran die');
    process.exit(7);
  });
  return server;
}

if (import.meta.main) {
  const [journal = '', mood] = process.argv.slice(2);
  if (mood === 'broken') {
    console.error('no licence found');
    process.exit(3);
  }
  process.on('exit', () => appendFileSync(journal, 'ended\n'));
  await testServer(journal).connect(new StdioServerTransport());
}
