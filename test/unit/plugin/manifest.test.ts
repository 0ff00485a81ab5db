import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { sealAgent } from '../../../src/pins/seal.ts';
import { parseConfig } from '../../../src/plugin/config.ts';
import { isManifestPath, parseManifest, readManifest } from '../../../src/plugin/manifest.ts';

const config = parseConfig(
  {
    models: { rehearsal: scriptedModel(() => ({ text: 'done' })) },
    tools: [{ name: 'look', description: 'Looks.', input: z.object({}), run: () => null }],
  },
  null,
);

const YAML = `# An agent
name: triage
version: 1.2.0
model: rehearsal
instructions: |
  Triage it.
  \tWith care.
tools: [look]
skills: [incidents]
coordination: { kind: solo }
roles:
  checker:
    model: rehearsal
    instructions: Check it.
budget:
  maxSteps: 5
  deadline: 2 days
output:
  type: object
  properties:
    class: { type: string }
`;
const JSON_TEXT = JSON.stringify(
  {
    output: { properties: { class: { type: 'string' } }, type: 'object' },
    budget: { deadline: '2 days', maxSteps: 5 },
    roles: { checker: { instructions: 'Check it.', model: 'rehearsal' } },
    coordination: 'solo',
    skills: ['incidents'],
    tools: ['look'],
    instructions: 'Triage it.\n\tWith care.\n',
    model: 'rehearsal',
    version: '1.2.0',
    name: 'triage',
  },
  null,
  '\t',
);
const MODULE = `import { defineAgent } from 'apomesh';
export default defineAgent({
  name: 'triage', version: '1.2.0', model: 'rehearsal', instructions: 'Triage it.\\n\\tWith care.\\n', tools: ['look'],
  skills: ['incidents'], budget: { maxSteps: 5, deadline: '2 days' }, roles: { checker: { model: 'rehearsal', instructions: 'Check it.' } },
  output: { type: 'object', properties: { class: { type: 'string' } } },
});
`;

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'manifest-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function read(name: string, text: string | Buffer) {
  await writeFile(join(dir, name), text);
  return readManifest(name, config, dir);
}

describe('readManifest', () => {
  it('P2: reads the same agent from YAML, JSON and a module, in any order of keys', async () => {
    const agents = [await read('a.yaml', YAML), await read('a.json', JSON_TEXT), await read('a.ts', MODULE)];
    expect(agents[0]).toMatchObject({
      name: 'triage',
      version: '1.2.0',
      instructions: 'Triage it.\n\tWith care.\n',
      skills: ['incidents'],
      coordination: { kind: 'solo', params: {} },
      budget: { maxSteps: 5, maxTokens: null, deadlineMs: 172_800_000 },
      durability: 'checkpointed',
      dispatch: 'loop',
      output: { type: 'object', properties: { class: { type: 'string' } } },
    });
    const digests = agents.map((agent) => sealAgent(agent, { tools: [], skills: [] }, {}).pin.ref.digest);
    expect(new Set(digests).size).toBe(1);
  });

  it('takes a byte order mark, and lines that end as on Windows', async () => {
    const agent = await read('crlf.yml', `\ufeff${YAML.replaceAll('\n', '\r\n')}`);
    expect(agent).toEqual(await read('lf.yml', YAML));
  });

  it.each([
    ['a version that is none', YAML.replace('1.2.0', '1.2'), 3, /version/],
    ['no version', YAML.replace('version: 1.2.0\n', ''), null, /version: is missing/],
    ['a key twice', `${YAML}model: other\n`, 22, /twice/],
    ['tabs', YAML.replace('  maxSteps', '\tmaxSteps'), 16, /tab/],
    ['a tag of YAML’s own', YAML.replace('[look]', '!!seq [look]'), 8, /a tag; write plain YAML/],
    ['a tag of no name', YAML.replace('[look]', '[! look]'), 8, /a tag; write plain YAML/],
    ['an anchor', YAML.replace('[look]', '&a [look]'), 8, /anchor/],
    ['a field that is not known', `${YAML}modle: x\n`, 22, /modle: there is no such field/],
    ['a tool that is not there', YAML.replace('[look]', '[lok]'), 8, /there is no tool lok; there is look/],
    ['a model that is not there', YAML.replace('model: rehearsal', 'model: other'), 4, /there is rehearsal/],
    ['a kind that is not there', YAML.replace('kind: solo', 'kind: choir'), 10, /there is solo/],
    ['parameters that solo has not', YAML.replace('kind: solo', 'kind: solo, params: { a: 1 }'), 10, /coordination/],
    [
      'a role’s tool that is not there',
      YAML.replace('Check it.', 'Check.\n    tools: [x]'),
      11,
      /roles\.checker\.tools\[0\]/,
    ],
    ['a role that has no model', YAML.replace('    model: rehearsal\n', ''), 11, /roles\.checker\.model/],
    ['a budget in cost without a price', YAML.replace('maxSteps: 5', 'maxCostUsd: 5'), 15, /price/],
    ['an output that is none', YAML.replace(/output:.*$/s, 'output: 5\n'), 18, /JSON schema/],
    ['a list', '- a\n', null, /must be an object/],
    ['nothing', '', null, /must be an object|is missing/],
  ])('refuses %s, with file and line', async (_what, text, line, why) => {
    const error: Error = await read('bad.yaml', text).then(
      () => new Error('it was taken'),
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', fields: { file: join(dir, 'bad.yaml') } });
    expect(error.message).toMatch(why);
    expect(error.message).toContain(line === null ? 'bad.yaml: ' : `bad.yaml:${line}: `);
  });

  it.each([
    ['x.json', '{"a": 1,}', /x\.json: is not JSON/],
    ['y.json', '{"name": "a",\n"name": "b"}', /y\.json:2: the key "name" is there twice/],
    ['deep.yaml', `a: ${'['.repeat(100_000)}`, /deep\.yaml:1: nested too deeply/],
    ['deep.json', `{"a": ${'['.repeat(4_000)}${']'.repeat(4_000)}}`, /nested too deeply|a: there is no such field/],
    ['z.yaml', Buffer.from([0xff, 0xfe]), /z\.yaml: is not UTF-8/],
    ['a.toml', 'a = 1', /is none of \.yaml/],
    ['b.mjs', 'export const a = 1', /write export default defineAgent/],
  ])('refuses %s', async (name, text, why) => {
    await expect(read(name, text)).rejects.toThrow(why);
  });

  it('says where it looked', async () => {
    await expect(readManifest('./nowhere.yaml', config, dir)).rejects.toThrow(
      `${join(dir, 'nowhere.yaml')}: cannot be read`,
    );
  });
});

describe('parseManifest', () => {
  const withOutput = (output: unknown) =>
    parseManifest({ name: 'a', version: '1.0.0', model: 'rehearsal', instructions: '', output }, config, null);
  const circular: Record<string, unknown> = { type: 'object' };
  circular['properties'] = { self: circular };

  it.each<[unknown, string, RegExp]>([
    [{ type: 'nonsense' }, 'output.type', /must be one of array, boolean/],
    [{ type: ['string', 'text'] }, 'output.type', /must be one of array, boolean/],
    [{ type: 'object', properties: 5 }, 'output.properties', /must be a record/],
    [{ type: 'object', properties: { a: 5 } }, 'output.properties.a', /must be a JSON schema/],
    [{ type: 'object', properties: { a: { type: 'x' } } }, 'output.properties.a.type', /must be one of/],
    [{ type: 'object', required: 'a' }, 'output.required', /must be an array/],
    [{ type: 'array', items: [{ minLength: '3' }] }, 'output.items[0].minLength', /whole number/],
    [{ type: 'array', items: { anyOf: [] } }, 'output.items.anyOf', /one at least/],
    [{ definitions: { a: { type: 'x' } } }, 'output.definitions.a.type', /must be one of/],
    [{ type: 'string', pattern: '(' }, 'output', /cannot be checked against it: Invalid regular expression/],
    [{ $ref: '#/$defs/a' }, 'output', /Reference not found/],
    [{ $ref: 'https://a.example/b.json' }, 'output', /External/],
    [{ if: { type: 'string' } }, 'output', /not supported/],
    [{ const: undefined }, 'output', /JSON cannot carry/],
    [circular, 'output', /JSON cannot carry/],
    [z.object({ at: z.date() }), 'output', /Date/],
    [[], 'output', /must be a JSON schema/],
  ])('refuses the output %j, naming the field', (output, field, why) => {
    expect(() => withOutput(output)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(why),
        fields: expect.objectContaining({ field }),
      }),
    );
  });

  it.each<[unknown]>([
    [{ type: 'object', properties: { a: true, b: { type: ['string', 'null'], minLength: 1 } }, required: ['a'] }],
    [{ type: 'array', items: [{ type: 'string' }], additionalItems: false }],
    [
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/a' } },
        $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } },
      },
    ],
    [{ enum: ['a', 1, null], title: 'A', examples: [1], 'x-own': {} }],
  ])('takes the output %j as it is', (output) => {
    expect(withOutput(output).output).toEqual(output);
  });

  it('takes an output of zod, as a config does', () => {
    const output = z.object({ class: z.string() });
    const agent = parseManifest(
      { name: 'a', version: '1.0.0', model: 'rehearsal', instructions: '', output },
      config,
      null,
    );
    expect(agent.output).toMatchObject({ type: 'object', required: ['class'] });
  });
});

describe('isManifestPath', () => {
  it.each(['a.yaml', './a', 'dir/a.JSON', 'a.ts', '/x/y'])('is true of %s', (word) => {
    expect(isManifestPath(word)).toBe(true);
  });
  it.each(['triage', 'triage@1.2.0', 'my.agent', 'triage@^1.2'])('is false of %s', (word) => {
    expect(isManifestPath(word)).toBe(false);
  });
});
