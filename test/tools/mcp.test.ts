import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { InvalidToolInputError, ToolOutcomeUnknownError, WorkerShutdownError } from '../../src/contract/errors.ts';
import { isRunning, mcpFixture, named, pidOf, run } from '../support/mcp-fixture.ts';

const mcp = mcpFixture();

describe('what an MCP tool is', () => {
  it('E1: an effect, whatever the server says of itself', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    expect(named(tools, 'echo')).toMatchObject({
      class: 'effect',
      idempotent: false,
      onDoubt: 'ask',
      timeoutMs: 60_000,
    });
    expect(named(tools, 'put')).toMatchObject({ class: 'effect', idempotent: false, description: 'Puts it.' });
    expect(named(tools, 'echo').reconcile).toBeNull();
  });

  it('E1: what the hints say, where the config trusts the server', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio({ trust: true }) } });
    expect(named(tools, 'echo')).toMatchObject({ class: 'read', idempotent: false });
    expect(named(tools, 'put')).toMatchObject({ class: 'effect', idempotent: true });
    expect(named(tools, 'slow')).toMatchObject({ class: 'effect', idempotent: false });
  });

  it('E1: what the config says, before any hint', async () => {
    const approval = ({ say }: { say: string }) => say === 'no';
    const tools = await mcp.open({
      mcp: {
        test: mcp.stdio({
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
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    expect(await run(tools, 'echo', { say: 'hi' })).toMatch(/^hi\nsha256:key\n\d+$/);
    expect(await run(tools, 'put')).toEqual({ put: true });
    expect(await run(tools, 'picture')).toEqual([
      { type: 'text', text: 'Look.' },
      { type: 'image', data: 'AQID', mimeType: 'image/png' },
    ]);
  });

  it('W6: an error of the tool is thrown with its text', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    const error = await run(tools, 'refuse').catch((e: unknown) => e);
    expect(error).toMatchObject({ name: 'Error', message: 'the disk\nis full' });
  });

  it('H4: arguments that do not fit never reach the server', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    expect(named(tools, 'echo').check({ say: 'hi' })).toBeNull();
    expect(named(tools, 'echo').check({ say: 3 })).toMatch(/say must be string/);
    expect(named(tools, 'echo').check({})).toMatch(/required property 'say'/);
    expect(named(tools, 'echo').check([])).toMatch(/object/);
    await expect(run(tools, 'echo', { say: 3 })).rejects.toThrow(InvalidToolInputError);
    expect(await mcp.journaled()).toEqual([]);
  });

  it('W0: an abort ends the wait with its reason, and reaches the server', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    const controller = new AbortController();
    const reason = new Error('cancelled by a person');
    const running = run(tools, 'slow', {}, controller.signal);
    await mcp.waitFor('began slow');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    await mcp.waitFor('cancelled slow');
  });

  it('W5: an effect is not told of a shutdown, as a server that stops does not say whether it did; a read is', async () => {
    const [effect, read] = await Promise.all([
      mcp.open({ mcp: { test: mcp.stdio() } }),
      mcp.open({ mcp: { test: mcp.stdio({ effects: { slow: 'read' } }) } }),
    ]);
    const reason = new WorkerShutdownError();
    const shutDown = () => AbortSignal.any([AbortSignal.abort(reason)]);
    await expect(run(read, 'slow', {}, shutDown())).rejects.toBe(reason);
    expect(await run(effect, 'slow', {}, shutDown())).toBe('at last');
  });

  it('E4: a call that is not answered in time is in doubt', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio({ tools: { slow: { timeout: 300 } } }) } });
    const start = performance.now();
    const error = await run(tools, 'slow').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ToolOutcomeUnknownError);
    expect(String(error)).toMatch(/server test did not answer in time.*slow/);
    expect(performance.now() - start).toBeLessThan(1400);
  });

  it('E4: a server that dies in a call leaves it in doubt, and is started again for the next', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
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
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    const before = await pidOf(tools);
    process.kill(before, 'SIGKILL');
    while (isRunning(before)) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await pidOf(tools)).not.toBe(before);
  });

  it('W5: closing ends the server, and nothing starts it again', async () => {
    const tools = await mcp.open({ mcp: { test: mcp.stdio() } });
    const pid = await pidOf(tools);
    await tools.close();
    expect(isRunning(pid)).toBe(false);
    await expect(run(tools, 'echo', { say: 'hi' })).rejects.toThrow(/closed/);
  });
});

describe('the filesystem server', () => {
  it('E1: reads and writes for real, and says what is wrong', async () => {
    const main = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
    await writeFile(join(mcp.dir, 'a.md'), '# A\n');
    const effects = { read_text_file: 'read', list_directory: 'read' } as const;
    const files = { command: process.execPath, args: [main, mcp.dir], cwd: dirname(mcp.dir), effects };
    const tools = await mcp.open({ mcp: { files } });
    expect(await run(tools, 'read_text_file', { path: 'a.md' })).toEqual({ content: '# A\n' });
    expect(await run(tools, 'list_directory', { path: '.' })).toEqual({ content: '[FILE] a.md' });
    await run(tools, 'write_file', { path: 'b.md', content: '# B\n' });
    expect(await readFile(join(mcp.dir, 'b.md'), 'utf8')).toBe('# B\n');
    await expect(run(tools, 'read_text_file', { path: '/etc/passwd' })).rejects.toThrow(/Access denied/);
    expect(named(tools, 'write_file').check({ path: 'x' })).toMatch(/content/);
    expect(named(tools, 'edit_file').class).toBe('effect');
    expect(named(tools, 'read_text_file').class).toBe('read');
  });
});
