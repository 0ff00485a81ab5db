import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { z } from 'zod';
import { backUp, restore } from '../../../examples/reference/backup.ts';
import { defineAgent } from '../../../src/agent/agent.ts';
import { ApomeshClient } from '../../../src/client/client.ts';
import { FileInvalidError } from '../../../src/contract/pin-errors.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { ApomeshPlugin } from '../../../src/plugin/plugin.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';

let dir: string;
let connection: Connection;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'catalogs-'));
  await mkdir(join(dir, 'greet'));
  await writeFile(join(dir, 'greet', 'SKILL.md'), '---\nname: greet\ndescription: Greets.\n---\nSay hello.\n');
  connection = Connection.lazy();
});
afterAll(async () => {
  await connection.close();
  await rm(dir, { recursive: true });
});

it('P2: a client puts skills, publishes agents, and exports pins, without a Temporal', async () => {
  const stores = memoryStores();
  const models = { m: scriptedModel(() => ({ text: 'done' })) };
  const plugin = new ApomeshPlugin({ models }, { stores });
  const apomesh = new ApomeshClient({ client: new Client({ connection, plugins: [plugin] }) });
  expect(await apomesh.skills.put(join(dir, 'greet'))).toMatchObject({ name: 'greet', files: 1, where: 'memory' });
  const greeter = defineAgent({
    name: 'greeter',
    version: '1.0.0',
    model: 'm',
    instructions: 'Greet.',
    skills: ['greet'],
    output: z.object({ text: z.string() }),
  });
  const published = await apomesh.agents.publish(greeter);
  expect(published).toMatchObject({ name: 'greeter', version: '1.0.0', outcome: 'published' });
  expect(await apomesh.agents.list()).toMatchObject([{ name: 'greeter', digest: published.digest }]);
  const lines: string[] = [];
  for await (const line of apomesh.pins.export(['greeter'])) lines.push(line);
  expect(await apomesh.pins.import(apomesh.pins.export())).toEqual({ pins: 1, files: 2, published: 1 });
  const file = join(dir, 'backup.ndjson');
  await backUp(apomesh, file);
  expect(await readFile(file, 'utf8')).toBe(lines.join(''));
  expect(await restore(apomesh, file)).toEqual({ pins: 1, files: 2, published: 1 });
  await expect(restore(apomesh, join(dir, 'greet', 'SKILL.md'))).rejects.toThrow(FileInvalidError);
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ end: { pins: 1, files: 2, published: 1 } });
  await apomesh.skills.remove('greet');
  expect(await apomesh.skills.list()).toEqual([]);
  expect(await apomesh.agents.verify('greeter@1.0.0')).toMatchObject({ outcome: 'unchanged' });
  await apomesh.close();
});
