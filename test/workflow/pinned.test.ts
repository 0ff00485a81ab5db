import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAI } from '@ai-sdk/openai';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { type AgentDefinition, defineTool } from '../../src/index.ts';
import type { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import type { Stores } from '../../src/ports/store.ts';
import { apomesh, jsonOf } from '../support/cli.ts';
import { pauseOf, tailed } from '../support/doer.ts';
import { type OpenAiReply, type OpenAiServer, startOpenAi } from '../support/openai-server.ts';
import { addressOf, mongoUriOf, openMongo, type Pool, startPool, unique } from '../support/pool.ts';
import { until } from '../support/until.ts';

const modes = ['loop', 'call'] as const;
/** Sorts of pins: sealed at the start from the config and the catalog, and published before. */
const sorts = ['catalog', 'bundle'] as const;
type Sort = (typeof sorts)[number];

const input = z.object({ text: z.string() });
const ask = (description: string) =>
  defineTool({ name: 'ask', description, input, approval: true, run: ({ text }) => `asked ${text}` });

const call = (n: number, tool: string, args: object) => ({ id: `c-${n}`, tool, args: JSON.stringify(args) });
const rules = { skill: 'refund', path: 'references/rules.md' };
const replies: readonly OpenAiReply[] = [
  { calls: [call(1, 'load_skill', { name: 'refund' }), call(2, 'read_skill_file', rules)] },
  { calls: [call(3, 'ask', { text: 'first' })] },
  { calls: [call(4, 'load_skill', { name: 'refund' }), call(5, 'read_skill_file', rules)] },
  { calls: [call(6, 'load_skill', { name: 'greet' })] },
  { text: 'done' },
];

const servers: OpenAiServer[] = [];
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'apomesh-pinned-'));
});
afterAll(async () => {
  for (const server of servers) await server.close();
  await rm(root, { recursive: true, force: true });
});

function writeSkill(folder: string, name: string, text: string): void {
  mkdirSync(join(folder, name, 'references'), { recursive: true });
  writeFileSync(join(folder, name, 'SKILL.md'), `---\nname: ${name}\ndescription: ${text}\n---\n\nHow: ${text}\r\n`);
  writeFileSync(join(folder, name, 'references', 'rules.md'), `Rules: ${text}\n`);
}

type Definition = AgentDefinition & { readonly version: string };

const clerk = (mode: (typeof modes)[number], more: Partial<Definition> = {}): Definition => ({
  name: 'clerk',
  version: '1.0.0',
  model: 'openai/gpt-5',
  instructions: 'Be a clerk.',
  tools: ['ask'],
  skills: ['refund', 'greet'],
  dispatch: mode,
  ...more,
});

const CATALOG = new Set<PropertyKey>(['skill', 'skills', 'published', 'publish', 'putSkill', 'removeSkill']);

const refuse = (what: PropertyKey): never => {
  throw new Error(`the catalog was read: ${String(what)}`);
};

/** A store of which nothing but the record of sessions and pins can be read. */
const withoutCatalog = (stores: Stores): Stores =>
  new Proxy(stores, { get: (all, key) => (CATALOG.has(key) ? () => refuse(key) : Reflect.get(all, key)) });

/** From now on nobody reads of the config what agents and skills there are. */
function withoutConfig(pool: Pool): void {
  const [plugin] = pool.client.options.plugins as [ApomeshPlugin];
  for (const key of ['agents', 'skills']) Object.defineProperty(plugin.config, key, { get: () => refuse(key) });
}

/** What a session meets while it waits for a person. */
interface Trouble {
  /** Changes every entry of the catalog. */
  readonly edit?: (folder: string) => void;
  readonly lost?: 'by an operator' | 'by a scan';
}

/** Runs a session of some sort through a trouble, and gives all that the model was sent, byte for byte. */
async function sentTo(sort: Sort, mode: (typeof modes)[number], { edit, lost }: Trouble): Promise<readonly string[]> {
  const folder = join(root, unique('skills'));
  for (const name of ['refund', 'greet']) writeSkill(folder, name, `as it was (${name})`);
  const server = await startOpenAi((_, n) => replies[n] ?? { status: 418, text: 'asked too often' });
  servers.push(server);
  const models = { 'openai/*': createOpenAI({ baseURL: server.baseURL, apiKey: 'none' }) };
  const database = unique('pinned');
  const stores = openMongo(database);
  const taskQueue = unique('pinned');
  const config = { models, tools: [ask('Asks.')], agents: [clerk(mode)], skills: folder };
  const before = await startPool(config, { stores, taskQueue, workflowTaskMs: 2_000 });
  if (sort === 'bundle') await before.apomesh.agents.publish('clerk');
  const { id } = await before.start('clerk', 'work');
  const pause = await pauseOf(before.apomesh.sessions.get(id));
  let pool = before;
  if (edit) {
    await before.stop();
    edit(folder);
    const other = clerk(mode, { version: '2.0.0', instructions: 'Be rude.', skills: [], tools: [] });
    await before.apomesh.agents.publish(other);
    const agents = [{ ...other, version: '1.0.0' }];
    pool = await startPool(
      { ...config, tools: [ask('Changed.')], agents },
      { stores: withoutCatalog(stores), taskQueue },
    );
    withoutConfig(pool);
  }
  const { sessions, recovery } = pool.apomesh;
  const workflow = pool.client.workflow.getHandle(id);
  if (lost === 'by an operator') {
    await workflow.terminate('lost');
    const file = join(root, `${id}.config.mjs`);
    writeFileSync(file, `export default { mongo: ${JSON.stringify({ uri: mongoUriOf(), database })} };`);
    const resumed = await apomesh(['resume', id, '--json', '--config', file, '--address', addressOf()], { cwd: root });
    expect(jsonOf(resumed)).toMatchObject({ resume: 1, logged: true });
  }
  if (lost === 'by a scan') {
    const { namespace } = pool.client.options;
    await pool.client.workflowService.deleteWorkflowExecution({ namespace, workflowExecution: { workflowId: id } });
    const isGone = () =>
      workflow
        .describe()
        .then(() => false)
        .catch(() => true);
    await until('Temporal has forgotten it', isGone);
    expect(await recovery.scan()).toMatchObject([{ session: id, class: 'resume' }]);
  }
  const session = sessions.get(id);
  await session.answer(pause, { decision: 'approve' });
  expect(await session.output()).toBe('done');
  const [started] = await tailed(session);
  expect(started).toMatchObject({ data: { pin: { kind: sort, name: 'clerk', version: '1.0.0' } } });
  expect(await session.view()).toMatchObject({ resumes: lost ? 1 : 0 });
  expect((await session.verify()).problems).toEqual([]);
  await pool.stop();
  return server.requests.map(({ path, raw }) => `${path} ${raw}`);
}

const edits = {
  edited: (folder: string) => {
    for (const name of ['refund', 'greet']) writeSkill(folder, name, 'as it is now');
  },
  renamed: (folder: string) => {
    rmSync(join(folder, 'refund'), { recursive: true });
    writeSkill(folder, 'refunds', 'as it was (refund)');
  },
  deleted: (folder: string) => rmSync(folder, { recursive: true }),
};

describe.each(sorts)('a session with a pin of the sort %s', (sort) => {
  it.each(modes)(
    'P1, P3: is the same, byte for byte, whatever becomes of the catalog while it waits (%s)',
    async (mode) => {
      const before = await sentTo(sort, mode, {});
      expect(before).toHaveLength(replies.length);
      expect(before[2]).toContain('How: as it was (refund)');
      expect(before[4]).toContain('How: as it was (greet)');
      const troubles: Trouble[] = [
        ...Object.values(edits).map((edit) => ({ edit })),
        ...(['by an operator', 'by a scan'] as const).map((lost) => ({ lost, edit: edits.deleted })),
      ];
      const sent = await Promise.all(troubles.map((trouble) => sentTo(sort, mode, trouble)));
      for (const one of sent) expect(one).toEqual(before);
    },
  );
});
