import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ms, { type StringValue } from 'ms';
import { problemCodes } from '../../src/client/verify.ts';
import { parseConfig } from '../../src/plugin/config.ts';
import { configSchema } from '../../src/plugin/config-schema.ts';
import { limitRanges } from '../../src/plugin/limits.ts';

const root = join(import.meta.dirname, '..', '..');
const texts = new Map<string, string>();

beforeAll(async () => {
  const docs = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
  for (const file of ['README.md', ...docs.map((name) => `docs/${name}`)]) texts.set(file, await read(file));
});

const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8');
const all = (): string => [...texts.values()].join('\n');
const pairs = (pattern: RegExp): [file: string, match: string][] =>
  [...texts].flatMap(([file, text]) => [...text.matchAll(pattern)].map((m): [string, string] => [file, m[1] ?? '']));

/** What stands under a heading, down to the next of its rank. */
function section(file: string, heading: string): string {
  const rank = heading.slice(0, heading.indexOf(' '));
  const lines = (texts.get(file) ?? '').split('\n');
  const start = lines.indexOf(heading);
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('#') && line.indexOf(' ') <= rank.length);
  expect([file, heading, start]).not.toContain(-1);
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** The rows of the tables of a text, by the code in their first cell. */
const rows = (text: string): Map<string, string[]> =>
  new Map(
    [...text.matchAll(/^\| `([^`]+)`.*$/gm)].map(([row, name]) => [
      name ?? '',
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    ]),
  );

/** Of a heading, as GitHub makes it. */
const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

describe('the documents', () => {
  it('link to what exists', async () => {
    const broken: string[] = [];
    for (const [file, link] of pairs(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [path = '', fragment] = link.split('#');
      const target = path === '' ? join(root, file) : resolve(root, dirname(file), path);
      const there = existsSync(target);
      const text = there && fragment !== undefined ? await readFile(target, 'utf8') : '';
      const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading ?? ''));
      if (!there || (fragment !== undefined && !anchors.includes(fragment))) broken.push(`${file}: ${link}`);
    }
    expect(broken).toEqual([]);
  });

  it('name files that exist, and tests that are in them', async () => {
    const files = pairs(/`((?:test|examples|src|bench)\/[\w./-]+\.ts)`/g);
    expect(files.filter(([, file]) => !existsSync(join(root, file)))).toEqual([]);
    const missing: string[] = [];
    let named = 0;
    for (const [line] of (texts.get('docs/guarantees.md') ?? '').matchAll(/^\|.*\|$/gm)) {
      for (const [, file = '', names = ''] of line.matchAll(/`(test\/[\w./-]+\.ts)`:((?: “[^”]+”,?)+)/g)) {
        const source = await read(file);
        for (const [, name = ''] of names.matchAll(/“([^”]+)”/g)) {
          named += 1;
          if (!source.includes(name)) missing.push(`${file}: ${name}`);
        }
      }
    }
    expect(missing).toEqual([]);
    expect(named).toBeGreaterThan(20);
  });

  it('show code that is in the examples, where it is type-checked', async () => {
    const examples = await Promise.all(
      ['quickstart', 'reference', 'incidents'].map(async (name) => {
        const files = (await readdir(join(root, 'examples', name))).filter((file) => file.endsWith('.ts'));
        return Promise.all(files.map((file) => read(`examples/${name}/${file}`)));
      }),
    );
    const sources = examples.flat();
    const blocks = pairs(/^```ts\n(.*?)^```$/gms);
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.filter(([, code]) => !sources.some((source) => source.includes(code)))).toEqual([]);
  });

  it('name npm scripts that exist', async () => {
    const { scripts } = JSON.parse(await read('package.json'));
    const named = [...all().matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name ?? '');
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });
});

describe('the commands', () => {
  const help = async (...args: string[]): Promise<string> => {
    const main = join(root, 'src', 'cli', 'main.ts');
    const node = ['--conditions=apomesh:source', '--disable-warning=ExperimentalWarning', main, ...args, '--help'];
    return (await promisify(execFile)(process.execPath, node)).stdout;
  };

  it('are documented, all of them, with options that exist', async () => {
    const overview = await help();
    const commands = [...overview.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? '');
    const documented = rows(section('docs/operating.md', '## Command line'));
    const described = [...documented.keys()].flatMap((usage) => /^apomesh ([a-z]+)/.exec(usage)?.[1] ?? []);
    expect(described.toSorted()).toEqual(commands.filter((name) => name !== 'help').toSorted());

    const used = [...all().matchAll(/(?:^npx |`)apomesh ([a-z]+)([^`\n]*)/gm)];
    expect(used.map(([, name]) => name ?? '').filter((name) => !commands.includes(name))).toEqual([]);
    const helps = new Map(await Promise.all(commands.map(async (name) => [name, await help(name)] as const)));
    const groups = commands.filter((name) => name !== 'help' && /^Usage: .* \[command\]$/m.test(helps.get(name) ?? ''));
    for (const group of groups) {
      const parts = [...(helps.get(group) ?? '').matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name ?? '');
      const all = await Promise.all(parts.filter((name) => name !== 'help').map((name) => help(group, name)));
      helps.set(group, all.join('\n'));
    }
    expect(groups).toEqual(['skills', 'pins']);
    const unknown = used.flatMap(([, name = '', words = '']) =>
      [...words.matchAll(/--[a-z-]+/g)]
        .filter(([option]) => !helps.get(name)?.includes(option))
        .map(([o]) => [name, o]),
    );
    expect(unknown).toEqual([]);
  });

  it('end with the exit codes that are documented', async () => {
    const source = await read('src/cli/failure.ts');
    const exits = new Map([...source.matchAll(/^ {2}([A-Z_]+): (\d),$/gm)].map(([, code, exit]) => [code, exit]));
    const table = section('docs/operating.md', '### Exit codes').matchAll(/^\| (\d) \|[^|]*\|([^|]*)\|$/gm);
    const documented = [...table].flatMap(([, exit, codes = '']) =>
      [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => [code, exit] as const),
    );
    expect(documented.length).toBeGreaterThan(15);
    expect(documented.filter(([code, exit]) => (exits.get(code) ?? '1') !== exit)).toEqual([]);
  });
});

describe('what verify finds', () => {
  it('has the codes that are documented', () => {
    const table = section('docs/operating.md', '## Is a session whole').matchAll(/^\| `([A-Z_]+)` \|/gm);
    expect([...table].map(([, code]) => code)).toEqual([...problemCodes]);
  });
});

describe('the configuration', () => {
  const file = 'docs/configuration.md';

  it('has the limits that are documented', () => {
    const units = { KiB: 1024, MiB: 1024 ** 2 };
    const number = (text = ''): number => {
      const [, count, unit = ''] = /^(\d+) ([KM]iB)$/.exec(text) ?? [];
      return unit in units ? Number(count) * units[unit as keyof typeof units] : ms(text as StringValue);
    };
    const documented = [...rows(section(file, '## Limits'))].map(([name, [, least, most, byDefault]]) => [
      name,
      { least: number(least), most: number(most), byDefault: number(byDefault) },
    ]);
    expect(Object.fromEntries(documented)).toEqual(limitRanges);
  });

  it('has the fields that are documented, and no others', () => {
    const { agents, tools, ...whole } = configSchema.shape;
    const names = (heading: string): string[] => [...rows(section(file, heading)).keys()].toSorted();
    const agent = agents.unwrap().element.shape;
    expect(names('## defineConfig')).toEqual(['agents', 'tools', ...Object.keys(whole)].toSorted());
    expect([...names('## defineAgent')]).toEqual(expect.arrayContaining(Object.keys(agent)));
    expect(names('### Budget')).toEqual(Object.keys(agent.budget.unwrap().in.shape).toSorted());
    expect(names('## defineTool')).toEqual(Object.keys(tools.unwrap().element.shape).toSorted());
    for (const field of names('## mcp')) {
      const config = { mcp: { wiki: { url: 'http://wiki.example', [field]: undefined } } };
      expect(() => parseConfig(config, null)).not.toThrow();
    }
  });

  it('has error codes that exist', async () => {
    const source = await read('src/session/error.ts');
    const codes = [...rows(section(file, '## Errors')).keys()];
    expect(codes.filter((code) => !source.includes(`'${code}'`))).toEqual([]);
  });

  it('is shown whole in the reference example, which is accepted', async () => {
    const { default: config } = await import('../../examples/reference/apomesh.config.ts');
    expect(parseConfig(config, null).agents.map(({ name, version }) => `${name}@${version}`)).toEqual(['clerk@1.2.0']);
    expect(Object.keys(config).toSorted()).toEqual(Object.keys(configSchema.shape).toSorted());
    const { agents, tools } = configSchema.shape;
    expect(Object.keys(config.agents?.[0] ?? {}).toSorted()).toEqual(
      Object.keys(agents.unwrap().element.shape).toSorted(),
    );
    expect(Object.keys(config.tools?.[0] ?? {}).toSorted()).toEqual(
      Object.keys(tools.unwrap().element.shape).toSorted(),
    );
    expect(Object.keys(config.limits ?? {})).toEqual(Object.keys(limitRanges));
  });
});
