import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { apomesh, errorOf } from '../support/cli.ts';
import { unique } from '../support/pool.ts';

const CONFIG = `
import { defineAgent, defineConfig, scriptedModel } from 'apomesh';
export default defineConfig({
  models: { rehearsal: scriptedModel(() => ({ text: 'done' })) },
  agents: [defineAgent({ name: 'scribe', version: '1.2.0', model: 'rehearsal', instructions: 'Write.' })],
  mongo: { database: '${unique('cli')}' },
});
`;

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'apomesh-cli-'));
  await writeFile(join(cwd, 'apomesh.config.ts'), CONFIG);
  await writeFile(join(cwd, 'wrong.config.ts'), CONFIG.replace("model: 'rehearsal'", "model: 'gpt'"));
  await writeFile(join(cwd, 'broken.config.ts'), 'export default {');
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const NOWHERE = '127.0.0.1:1';

describe('usage', () => {
  it.each([
    ['an unknown command', ['shwo', 's-1'], /shwo.*\(Did you mean show\?\)/],
    ['an unknown option', ['show', 's-1', '--jsn'], /--jsn/],
    ['a missing word', ['show'], /session/],
    ['a start without a goal', ['start', 'scribe'], /--goal/],
    [
      'a durability that is not known',
      ['start', 'scribe', '--goal', 'x', '--durability', 'high'],
      /checkpointed, replayable/,
    ],
    ['a seq that is none', ['tail', 's-1', '--from', '-1'], /--from/],
    ['a goal in a file that is not there', ['start', 'scribe', '--goal', '@nope.md'], /nope\.md/],
    ['arguments that are not JSON', ['answer', 's', 'p', 'edit', '--args', '{"a" 1}'], /--args.*position 5/],
    ['a session id with a slash', ['start', 'scribe', '--goal', 'x', '--id', 'a/b'], /slash/],
    ['a session id with a slash, to read', ['show', 'a/b'], /slash/],
    ['a goal of half a surrogate pair', ['start', 'scribe', '--goal', '@lone.md'], /lone\.md/],
  ])('exits 2 for %s, and says what is wrong', async (_what, args, why) => {
    await writeFile(join(cwd, 'lone.md'), Buffer.from([0xed, 0xa0, 0x80]));
    const ran = await apomesh([...args, '--json'], { cwd });
    expect(ran).toMatchObject({ exit: 2, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'USAGE', message: expect.stringMatching(why) });
  });

  it('says it in one sentence to people', async () => {
    const ran = await apomesh(['shwo', 's-1'], { cwd });
    expect(ran).toMatchObject({ exit: 2, stdout: '' });
    expect(ran.stderr).toBe("error: USAGE: unknown command 'shwo' (Did you mean show?)\n");
  });

  it('L3: exits 2 for a goal over the limit, naming it', async () => {
    await writeFile(join(cwd, 'long.md'), 'x'.repeat(64 * 1024 + 1));
    const ran = await apomesh(['start', 'scribe', '--goal', '@long.md', '--json'], { cwd });
    expect(ran.exit).toBe(2);
    expect(errorOf(ran)).toMatchObject({ code: 'BODY_TOO_LARGE', bytes: 65_537, limit: 65_536 });
  });

  it('shows help on request, and on standard error where there is no command', async () => {
    const [help, none, version] = await Promise.all([
      apomesh(['start', '--help']),
      apomesh([]),
      apomesh(['--version']),
    ]);
    expect(help).toMatchObject({ exit: 0, stderr: '' });
    expect(help.stdout).toContain('--goal');
    expect(none).toMatchObject({ exit: 2, stdout: '' });
    expect(none.stderr).toContain('Usage:');
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('a config', () => {
  it.each([
    ['wrong.config.ts', 'agents[0].model'],
    ['broken.config.ts', '(file)'],
    ['nope.config.ts', '(file)'],
  ])('that is wrong (%s) is named with the field, before anything is started', async (file, field) => {
    const args = ['start', 'scribe', '--goal', 'x', '--config', file, '--json', '--address', NOWHERE];
    for (const ran of await Promise.all([apomesh(args, { cwd }), apomesh(['worker', ...args.slice(4)], { cwd })])) {
      expect(ran).toMatchObject({ exit: 2, stdout: '' });
      expect(errorOf(ran)).toMatchObject({ code: 'CONFIG_INVALID', field, file: join(cwd, file) });
    }
  });

  it('is needed to start an agent that is not published, and to publish one by name', async () => {
    const bare = await mkdtemp(join(tmpdir(), 'apomesh-bare-'));
    const [start, publish] = await Promise.all([
      apomesh(['start', 'payer2', '--goal', 'x'], { cwd: bare }),
      apomesh(['publish', 'payer2'], { cwd: bare }),
    ]);
    expect(start.exit).toBe(3);
    expect(start.stderr).toMatch(/^error: AGENT_NOT_FOUND: there is no agent payer2 that is published; .*--config/);
    expect(publish.exit).toBe(2);
    expect(publish.stderr).toMatch(
      /^error: CONFIG_INVALID: .*no config here .*payer2 is no path of a manifest; .*--config/,
    );
    await rm(bare, { recursive: true });
  });
});

describe('what is not there', () => {
  it.each([
    ['show', ['show', 'nobody']],
    ['tail', ['tail', 'nobody']],
    ['verify', ['verify', 'nobody']],
    ['cancel', ['cancel', 'nobody']],
    ['answer', ['answer', 'nobody', 'p', 'approve']],
  ])('exits 3 for %s of a session that is not there', async (_what, args) => {
    const ran = await apomesh([...args, '--json'], { cwd });
    expect(ran).toMatchObject({ exit: 3, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'SESSION_NOT_FOUND', session: 'nobody' });
  });

  it.each(['nobody', 'scribe@1.2.1'])('exits 3 for the agent %s, naming those there are', async (agent) => {
    const ran = await apomesh(['start', agent, '--goal', 'x'], { cwd });
    expect(ran.exit).toBe(3);
    expect(ran.stderr).toMatch(/^error: AGENT_NOT_FOUND: .*scribe@1\.2\.0/);
  });
});

describe('servers that do not answer', () => {
  const BOUND_MS = 10_000;

  it.each([
    ['start', ['start', 'scribe', '--goal', 'x']],
    ['answer', ['answer', 's-1', 'p', 'approve']],
    ['worker', ['worker']],
  ])('%s names the address of Temporal and what to try, within 10 s', async (_what, args) => {
    const ran = await apomesh([...args, '--address', NOWHERE], { cwd });
    expect(ran).toMatchObject({ exit: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^error: TEMPORAL_UNREACHABLE: .*127\.0\.0\.1:1.*--address/);
    expect(ran.ms).toBeLessThan(BOUND_MS);
  });

  it.each([
    ['start', ['start', 'scribe', '--goal', 'x']],
    ['show', ['show', 's-1']],
    ['worker', ['worker']],
  ])('%s names the address of MongoDB, without the password, and what to try, within 10 s', async (_what, args) => {
    const ran = await apomesh([...args, '--mongo-uri', `mongodb://me:secret@${NOWHERE}`], { cwd });
    expect(ran).toMatchObject({ exit: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^error: STORE_UNREACHABLE: .*127\.0\.0\.1:1.*--mongo-uri/);
    expect(ran.stderr).not.toContain('secret');
    expect(ran.ms).toBeLessThan(BOUND_MS);
  });

  it('names the variable whose value is no URI', async () => {
    const ran = await apomesh(['sessions'], { cwd, env: { MONGODB_URI: 'junk' } });
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/^error: CONFIG_INVALID: environment: MONGODB_URI: /);
  });

  it('names the namespace that is not there', async () => {
    const ran = await apomesh(['start', 'scribe', '--goal', 'x', '--namespace', 'nope'], { cwd });
    expect(ran.exit).toBe(2);
    expect(ran.stderr).toMatch(/namespace nope.*--namespace/);
  });
});
