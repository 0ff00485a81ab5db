import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { McpServerDefinition } from '../../src/agent/mcp.ts';
import { defineTool } from '../../src/agent/tool.ts';
import { ConfigInvalidError } from '../../src/contract/errors.ts';
import { describeTools } from '../../src/tools/toolset.ts';
import { mcpFixture, serverFile } from '../support/mcp-fixture.ts';

const mcp = mcpFixture();

describe('a set of tools', () => {
  const note = defineTool({ name: 'note', description: 'Notes.', input: z.object({}), run: () => null });
  const echo = defineTool({ name: 'echo', description: 'Other.', input: z.object({}), run: () => null });

  it('P1: resolves names and server/* in order, each once', async () => {
    const tools = await mcp.open({ tools: [note], mcp: { test: mcp.stdio(), more: mcp.stdio({ prefix: 'more_' }) } });
    const names = (list: readonly string[]) => tools.resolve(list).map((tool) => tool.name);
    const all = ['echo', 'put', 'refuse', 'picture', 'slow', 'die'];
    expect(names(['put', 'test/*', 'note', 'put'])).toEqual([
      'put',
      'echo',
      'refuse',
      'picture',
      'slow',
      'die',
      'note',
    ]);
    expect(names(['more/*'])).toEqual(all.map((name) => `more_${name}`));
    expect(names([])).toEqual([]);
    expect(tools.names).toHaveLength(13);
    expect(() => names(['note', 'nope', 'files/*'])).toThrow(
      /no tool nope, files\/\*; there is note, .*test\/\*, more\/\*/,
    );
    expect(() => names(['*'])).toThrow(ConfigInvalidError);
  });

  it.each([
    [
      'a tool and a server',
      { tools: [note, echo], mcp: { test: mcp.stdio() } },
      /mcp\.test: the tool echo is in tools too/,
    ],
    ['two servers', { mcp: { a: mcp.stdio(), b: mcp.stdio() } }, /mcp\.b: the tool echo is in mcp\.a too.*prefix/],
    ['two tools', { tools: [note, note] }, /tools: the tool note/],
    [
      'a tool and apomesh',
      { tools: [{ ...note, name: 'checkpoint_now' }] },
      /the tool checkpoint_now is in apomesh too/,
    ],
  ])('P1: a name that %s both have is refused, naming both', async (_, config, message) => {
    const refused = mcp.open(config);
    await expect(refused).rejects.toThrow(ConfigInvalidError);
    await expect(refused).rejects.toThrow(message);
  });

  it('P1: describes tools as they are pinned, starting only the servers it takes', async () => {
    const config = { tools: [note], mcp: { test: mcp.stdio(), absent: { command: '/nowhere/server' } } };
    expect(await describeTools(config, [['note']])).toEqual([
      [{ name: 'note', description: 'Notes.', class: 'effect', input: expect.objectContaining({ type: 'object' }) }],
    ]);
    expect(await describeTools(config, [['checkpoint_now']])).toMatchObject([[{ class: 'orchestrator' }]]);
    expect((await describeTools(config, [['note', 'test/*']])).flat().map(({ name }) => name)).toContain('put');
    expect(await mcp.journaled()).toEqual(['ended']);
    await expect(describeTools(config, [['put']])).rejects.toThrow(/absent/);
  });
});

describe('a server that is wrong', () => {
  it.each<[string, McpServerDefinition | object, RegExp]>([
    ['is not there', { command: '/nowhere/server', args: ['--x'] }, /mcp\.files: .*\/nowhere\/server.*ENOENT/],
    ['ends at once', { command: process.execPath, args: [serverFile, '', 'broken'] }, /mcp\.files: .*no licence found/],
    [
      'is silent',
      { command: process.execPath, args: ['-e', 'setTimeout(() => {}, 9e6)'], connectTimeout: 300 },
      /timed out/,
    ],
    ['is not reached', { url: 'http://127.0.0.1:1/mcp?token=secret' }, /mcp\.files: .*http:\/\/127\.0\.0\.1:1\/mcp\)/],
    ['has no address', { url: 'files' }, /mcp\.files\.url: "files"/],
    ['says nothing', {}, /mcp\.files: give either/],
    ['says both', { command: 'x', url: 'http://x' }, /mcp\.files: give either/],
  ])('P1: one that %s is named', async (_, definition, message) => {
    const refused = mcp.open({ mcp: { files: definition as McpServerDefinition } });
    await expect(refused).rejects.toThrow(ConfigInvalidError);
    await expect(refused).rejects.toThrow(message);
  });

  it('E1: an option for a tool that the server has not is refused', async () => {
    await expect(mcp.open({ mcp: { test: mcp.stdio({ effects: { ecko: 'read' } }) } })).rejects.toThrow(
      /mcp\.test\.effects: the server has no tool ecko; it has echo, put/,
    );
    await expect(mcp.open({ mcp: { test: mcp.stdio({ tools: { ecko: {} } }) } })).rejects.toThrow(/mcp\.test\.tools/);
    await expect(mcp.open({ mcp: { test: mcp.stdio({ effects: { echo: 'write' as never } }) } })).rejects.toThrow(
      /"write"/,
    );
    await expect(mcp.open({ mcp: { 'a/b': mcp.stdio() } })).rejects.toThrow(/mcp\.a\/b/);
  });

  it('W5: the other servers are ended when one cannot be reached', async () => {
    await expect(mcp.open({ mcp: { test: mcp.stdio(), absent: { command: '/nowhere/server' } } })).rejects.toThrow(
      /absent/,
    );
    expect(await mcp.journaled()).toEqual(['ended']);
  });
});
