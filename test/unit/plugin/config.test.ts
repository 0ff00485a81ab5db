import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { ConfigInvalidError } from '../../../src/contract/errors.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { defineConfig, parseConfig } from '../../../src/plugin/config.ts';

const FILE = '/app/apomesh.config.ts';
const rehearsal = scriptedModel(() => ({ text: 'done' }));
const agent = { name: 'triage', model: 'rehearsal', instructions: 'Triage.' };
const tool = { name: 'look', description: 'Looks.', input: z.object({ at: z.string() }), run: () => null };

/** A config with one agent, changed. */
const withAgent = (change: object, rest: object = {}) => ({
  models: { rehearsal },
  agents: [{ ...agent, ...change }],
  ...rest,
});

function mistakeOf(config: unknown): ConfigInvalidError {
  try {
    parseConfig(config, FILE);
  } catch (error) {
    if (error instanceof ConfigInvalidError) return error;
    throw error;
  }
  throw new Error('the config was taken');
}

describe('parseConfig', () => {
  it('fills in every default', () => {
    const { agents, limits, mongo, file } = parseConfig(defineConfig(withAgent({})), FILE);
    expect(file).toBe(FILE);
    expect(agents).toEqual([
      {
        ...agent,
        version: '0.0.0',
        tools: [],
        skills: [],
        budget: { maxSteps: null, maxTokens: null, maxCostUsd: null, maxToolCalls: null, deadlineMs: null },
        durability: 'checkpointed',
        output: null,
        dispatch: 'loop',
        coordination: { kind: 'solo', params: {} },
        roles: {},
      },
    ]);
    expect(limits).toEqual({
      heartbeatTimeoutMs: 10_000,
      maxBodyBytes: 8 * 1024 * 1024,
      maxBundleBytes: 32 * 1024 * 1024,
      sliceNodes: 200,
      sliceTimeMs: 300_000,
      doubtGraceMs: 5_000,
      stickyQueueTimeoutMs: 500,
      shutdownGraceMs: 20_000,
    });
    expect(mongo).toEqual({ uri: null, database: 'apomesh' });
  });

  it('reads durations, budgets and the shape of an output', () => {
    const output = z.object({ count: z.number() });
    const { agents, limits } = parseConfig(
      withAgent(
        { budget: { maxSteps: 3, maxCostUsd: 0.5, deadline: '2 hours' }, output },
        { prices: { rehearsal: { input: 1, output: 2 } }, limits: { heartbeatTimeout: '2s', sliceTime: 60_000 } },
      ),
      null,
    );
    expect(agents[0]?.budget).toMatchObject({ maxSteps: 3, maxCostUsd: 0.5, deadlineMs: 7_200_000 });
    expect(agents[0]?.output).toMatchObject({ type: 'object', required: ['count'] });
    expect(limits).toMatchObject({ heartbeatTimeoutMs: 2_000, sliceTimeMs: 60_000 });
  });

  it('gives back a config that it gave before', () => {
    const config = parseConfig(withAgent({}), FILE);
    expect(parseConfig(config, null)).toBe(config);
  });

  it('leaves names of MCP tools until the server is asked', () => {
    const mcp = { files: { command: 'files' } };
    expect(parseConfig(withAgent({ tools: ['files/*', 'read_file'] }, { mcp }), null).agents).toHaveLength(1);
  });

  const mistakes: [what: string, config: unknown, field: string, why: RegExp][] = [
    ['no config at all', undefined, '(whole)', /missing.*object/],
    ['a field that is not known', { programs: [] }, 'programs', /no such field/],
    [
      'a field of an agent that is not known',
      withAgent({ instruction: 'x' }),
      'agents[0].instruction',
      /no such field/,
    ],
    ['an agent without instructions', { agents: [{ name: 'a', model: 'm' }] }, 'agents[0].instructions', /missing/],
    ['an agent with a name that cannot be in an id', withAgent({ name: 'A/b' }), 'agents[0].name', /a-z/],
    ['two agents of one name', { models: { rehearsal }, agents: [agent, agent] }, 'agents[1].name', /agents\[0\]/],
    ['a version that is none', withAgent({ version: '1.2' }), 'agents[0].version', /1\.0\.0/],
    ['a model that is not there', withAgent({ model: 'gpt' }), 'agents[0].model', /gpt; there is rehearsal/],
    ['half a surrogate pair', withAgent({ instructions: '\ud800' }), 'agents[0].instructions', /surrogate/],
    ['a tool that is not there', withAgent({ tools: ['look'] }), 'agents[0].tools[0]', /no tool look/],
    [
      'a server that is not there',
      withAgent({ tools: ['files/*'] }, { mcp: { db: { command: 'x' } } }),
      'agents[0].tools[0]',
      /files\/\*/,
    ],
    [
      'a limit on cost without a price',
      withAgent({ budget: { maxCostUsd: 1 } }),
      'agents[0].budget.maxCostUsd',
      /price for rehearsal/,
    ],
    ['a budget of nothing', withAgent({ budget: { maxSteps: 0 } }), 'agents[0].budget.maxSteps', /more than 0/],
    [
      'a deadline that is no duration',
      withAgent({ budget: { deadline: 'soon' } }),
      'agents[0].budget.deadline',
      /30 seconds/,
    ],
    ['an output that JSON cannot carry', withAgent({ output: z.object({ at: z.date() }) }), 'agents[0].output', /Date/],
    [
      'an output that answers cannot be checked against',
      withAgent({ output: z.any().meta({ pattern: '(', type: 'string' }) }),
      'agents[0].output',
      /cannot be checked/,
    ],
    ['an output that is no schema', withAgent({ output: { type: 'object' } }), 'agents[0].output', /zod 4/],
    ['a dispatch that is not known', withAgent({ dispatch: 'slow' }), 'agents[0].dispatch', /loop, call/],
    ['a tool without code', { tools: [{ ...tool, run: undefined }] }, 'tools[0].run', /function/],
    ['a tool of a name models do not take', { tools: [{ ...tool, name: 'look at' }] }, 'tools', /look at/],
    ['two tools of one name', { tools: [tool, tool] }, 'tools[1].name', /tools\[0\]/],
    [
      "a tool of a name that is apomesh's own",
      { tools: [{ ...tool, name: 'checkpoint_now' }] },
      'tools[0].name',
      /rename/,
    ],
    ['a tool that reads skills, without skills', withAgent({ tools: ['load_skill'] }), 'agents[0].tools[0]', /skills/],
    ['a tool with a time-out of no length', { tools: [{ ...tool, timeout: 'x' }] }, 'tools[0].timeout', /30 seconds/],
    [
      'a server with a name that cannot stand in server/*',
      { mcp: { 'a/b': { command: 'x' } } },
      'mcp.a/b',
      /no \/ and no \*/,
    ],
    ['a server with neither command nor url', { mcp: { files: {} } }, 'mcp.files', /either command/],
    ['a server with wrong arguments', { mcp: { files: { command: 'x', args: [1] } } }, 'mcp.files.args[0]', /string/],
    [
      'a class that is not known',
      { mcp: { files: { command: 'x', effects: { rm: 'write' } } } },
      'mcp.files.effects.rm',
      /read, effect/,
    ],
    ['a model that is none', { models: { gpt: 'gpt' } }, 'models.gpt', /AI SDK/],
    ['a price without its half', { prices: { gpt: { input: 1 } } }, 'prices.gpt.output', /missing/],
    ['a limit out of range', { limits: { maxBodyBytes: 16 * 1024 * 1024 } }, 'limits.maxBodyBytes', /15728640/],
    ['a limit that is no whole number', { limits: { sliceNodes: 1.5 } }, 'limits.sliceNodes', /whole/],
    ['a heartbeat that is too fast', { limits: { heartbeatTimeout: '10ms' } }, 'limits.heartbeatTimeout', /1s to 10m/],
    ['an address that is not MongoDB’s', { mongo: { uri: 'http://db' } }, 'mongo.uri', /mongodb:\/\//],
  ];
  it.each(mistakes)('names the field and the file of %s', (_what, config, field, why) => {
    const { fields, message } = mistakeOf(config);
    expect(fields).toMatchObject({ field, file: FILE, why: expect.stringMatching(why) });
    expect(message).toContain(`${FILE}: ${field}: `);
  });

  it('names every field that is wrong', () => {
    const { message } = mistakeOf(withAgent({ version: 'x', budget: { maxSteps: -1 } }));
    expect(message).toMatch(/agents\[0\]\.version.*wrong too: agents\[0\]\.budget\.maxSteps/);
  });
});
