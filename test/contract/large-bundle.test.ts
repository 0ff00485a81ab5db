import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { scriptedModel } from '../../src/models/scripted.ts';
import { checkPin } from '../../src/pins/open.ts';
import { openCatalogs } from '../../src/plugin/backends.ts';
import { parseConfig } from '../../src/plugin/config.ts';
import type { Stores } from '../../src/ports/store.ts';
import { mongoStores } from '../../src/stores/mongo/stores.ts';
import { mongoUri, newDatabase } from './mongo.ts';

const FILES = 2_000;
const BYTES = 10 * 1024;
const MIB = 1024 * 1024;

let dir: string;
let stores: Stores;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'large-'));
  await mkdir(join(dir, 'skills', 'large', 'assets'), { recursive: true });
  await writeFile(join(dir, 'skills', 'large', 'SKILL.md'), '---\nname: large\ndescription: Large.\n---\nText.\n');
  for (let n = 0; n < FILES; n++) {
    const bytes = n % 4 === 0 ? randomBytes(BYTES) : `${n}\n${'é'.repeat(BYTES / 2 - 8)}`;
    await writeFile(join(dir, 'skills', 'large', 'assets', `${n}`), bytes);
  }
  stores = mongoStores({ uri: mongoUri(), database: newDatabase() });
});
afterAll(async () => {
  await stores?.close();
  await rm(dir, { recursive: true, force: true });
});

const opened = (maxBundleBytes: number) => {
  const agents = [{ name: 'a', version: '1.0.0', model: 'm', instructions: 'Go.', skills: ['large'] }];
  const models = { m: scriptedModel(() => ({ text: 'done' })) };
  return openCatalogs(
    parseConfig({ models, agents, skills: join(dir, 'skills'), limits: { maxBundleBytes } }, null),
    stores,
  );
};

it('P2: a bundle of 2,000 files and 20 MB is published and started from; over the limit nothing is stored', async () => {
  await stores.prepare();
  await expect(opened(19 * MIB).publishing.publish('a')).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
  await expect(opened(19 * MIB).skills.put(join(dir, 'skills', 'large'))).rejects.toMatchObject({
    code: 'BODY_TOO_LARGE',
  });
  expect([...(await stores.sealed('pins')), ...(await stores.sealed('files')), ...(await stores.skills())]).toEqual([]);

  const { publishing, agents } = opened(32 * MIB);
  const { digest } = await publishing.publish('a');
  expect(await stores.sealed('files')).toHaveLength(FILES + 2);
  expect(Math.max(...(await stores.sealed('pins')).map(({ bytes }) => bytes))).toBeLessThan(MIB);
  const started = await agents.resolve('a');
  expect(started).toMatchObject({ kind: 'bundle', digest });
  expect(await checkPin(stores, { kind: 'bundle', digest })).toEqual(started.pinned);
  expect(await publishing.publish('a')).toMatchObject({ digest, outcome: 'unchanged' });
});
