import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionSummary } from '../../src/client/list.ts';
import type { Pause } from '../../src/client/pauses.ts';
import type { Verification } from '../../src/client/verify.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import type { SessionView } from '../../src/session/view.ts';
import { apomesh, COMMAND, errorOf, jsonOf, type Running, start } from '../support/cli.ts';
import { addressOf, mongoUriOf, unique } from '../support/pool.ts';
import { shell } from '../support/temporal-cli.ts';
import { until } from '../support/until.ts';

/** A folder of a user's own. `save` appends to a file; `wait` takes 30 s the first time it is called. */
const CONFIG = `
import { access, appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineAgent, defineConfig, defineTool, scriptedModel } from 'apomesh';
import { z } from 'zod';

const here = import.meta.dirname;
const save = defineTool({
  name: 'save',
  description: 'Saves a line.',
  input: z.object({ text: z.string() }),
  approval: ({ text }) => text.startsWith('!'),
  run: async ({ text }, { key }) => {
    await appendFile(join(here, 'saved.txt'), \`\${key} \${text}\\n\`);
    if (text === 'slowly') await new Promise((resolve) => setTimeout(resolve, 2_000));
    return { saved: text };
  },
});
const wait = defineTool({
  name: 'wait',
  description: 'Waits.',
  input: z.object({ mark: z.string() }),
  effect: 'read',
  run: async ({ mark }, { signal }) => {
    if (await access(join(here, mark)).then(() => true, () => false)) return 'again';
    await writeFile(join(here, mark), '');
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 30_000);
      signal.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); });
    });
    return 'first';
  },
});
const goalModel = scriptedModel((prompt, { node }) => {
  const user = prompt.find(({ role }) => role === 'user');
  return JSON.parse(user.content[0].text)[node] ?? { text: 'done' };
});
export default defineConfig({
  models: { goal: goalModel },
  tools: [save, wait],
  agents: [defineAgent({ name: 'scribe', version: '1.2.0', model: 'goal', instructions: 'Write.', tools: ['save', 'wait'] })],
  limits: { heartbeatTimeout: '2s' },
  mongo: { database: '${unique('cli')}' },
});
`;

const queue = unique('queue');
const call = (tool: string, args: object) => ({ calls: [{ tool, args }] });
const goalOf = (...steps: object[]) => JSON.stringify(steps);

let cwd: string;
let worker: Running;
const run = (...args: string[]) => apomesh(args, { cwd });
const startSession = (id: string, goal: string, ...more: string[]) =>
  run('start', 'scribe', '--goal', goal, '--id', id, '--task-queue', queue, ...more);
const startWorker = async (): Promise<Running> => {
  const started = start(['worker', '--json', '--task-queue', queue], { cwd });
  expect(JSON.parse(await started.line(/taskQueue/))).toMatchObject({ taskQueue: queue });
  return started;
};
const untilWaiting = (mark: string) => until('the tool runs', () => existsSync(join(cwd, mark)));
const pausesOf = async (id: string): Promise<Pause[]> =>
  until('it waits', async () => {
    const pauses = jsonOf<Pause[]>(await run('pauses', id, '--json'));
    return pauses.length > 0 && pauses;
  });

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'apomesh-cli-'));
  await writeFile(join(cwd, 'apomesh.config.ts'), CONFIG);
  await symlink(join(import.meta.dirname, '..', '..', 'node_modules'), join(cwd, 'node_modules'));
  worker = await startWorker();
}, 120_000);
afterAll(() => rm(cwd, { recursive: true, force: true }));

describe('a session, from the command line', () => {
  const id = unique('s');
  let log: Envelope[];

  it('is started, followed to its end, and gives its output', async () => {
    const goal = join(cwd, 'goal.md');
    await writeFile(goal, goalOf(call('save', { text: 'one' }), call('save', { text: 'two' })));
    const ran = await startSession(id, `@${goal}`, '--follow', '--json');
    expect(ran).toMatchObject({ exit: 0, stderr: '' });
    const lines = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[0]).toEqual({ session: id });
    log = lines.slice(1, -1);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, seq) => seq));
    expect(log.at(-1)).toMatchObject({ type: 'AgentLifecycle', data: { phase: 'completed' } });
    expect(lines.at(-1)).toBe('done');
    expect((await readFile(join(cwd, 'saved.txt'), 'utf8')).replaceAll(/sha256:\w+ /g, '')).toBe('one\ntwo\n');
  });

  it('is read: show, tail, output, sessions, verify', async () => {
    const [shown, tailed, output, listed, verified, effects] = await Promise.all([
      run('show', id, '--json'),
      run('tail', id, '--from', '5', '--json'),
      run('output', id),
      run('sessions', '--json', '--phase', 'completed'),
      run('verify', id, '--json'),
      run('effects', id, '--json'),
    ]);
    expect(jsonOf(effects)).toMatchObject([{ args: { text: 'one' }, result: { saved: 'one' } }, { outcome: 'ok' }]);
    expect(jsonOf<SessionView>(shown)).toMatchObject({
      session: id,
      terminal: true,
      lastSeq: log.length - 1,
      sideEffects: 2,
    });
    expect(
      tailed.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(log.slice(5));
    expect(output).toMatchObject({ exit: 0, stdout: 'done\n' });
    expect(jsonOf<SessionSummary[]>(listed)).toMatchObject([{ session: id, agent: 'scribe', phase: 'completed' }]);
    expect({ exit: verified.exit, ...jsonOf<Verification>(verified) }).toMatchObject({
      ...{ exit: 0, ok: true },
      problems: [],
      effects: { intents: 2, outcomes: 2, duplicates: 0 },
    });
  });

  it('reads well for people', async () => {
    const [shown, tailed, listed, verified, effects] = await Promise.all([
      run('show', id),
      run('tail', id),
      run('sessions'),
      run('verify', id),
      run('effects', id),
    ]);
    expect(shown.stdout).toMatch(/effects\n +\d+ +save +ok +sha256:\w{8}\n[\s\S]*apomesh effects/);
    expect(effects.stdout).toMatch(/save +ok[\s\S]*args +\{"text":"one"\}\n +result +\{"saved":"one"\}/);
    expect(shown.stdout).toMatch(
      /phase +completed[\s\S]*agent +scribe@1\.2\.0 on goal[\s\S]*effects +2[\s\S]*output\ndone/,
    );
    expect(tailed.stdout.trim().split('\n')).toHaveLength(log.length);
    expect(tailed.stdout).toMatch(/^ +0 \d\d:\d\d:\d\d\.\d{3} root-1 SessionStarted/);
    expect(listed.stdout).toMatch(/^SESSION .*GOAL\n/);
    expect(verified.stdout).toMatch(/sound\n$/);
    for (const { stdout } of [shown, tailed, listed, verified]) expect(stdout).not.toContain('\u001b');
  });

  it('F1: is exported, and folds to what show gives', async () => {
    const exported = await run('export', id);
    expect(
      exported.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(log);
    const folded = await apomesh(['fold', '--json'], { input: exported.stdout });
    expect(folded.stdout).toBe((await run('show', id, '--json')).stdout);
  });

  it('R6: is refused to be started again', async () => {
    const ran = await startSession(id, goalOf(), '--json');
    expect(ran).toMatchObject({ exit: 4, stdout: '' });
    expect(errorOf(ran)).toMatchObject({ code: 'SESSION_TERMINAL', session: id, phase: 'completed' });
  });

  it('ends quietly where its reader does', async () => {
    const node = [process.execPath, ...COMMAND].map((word) => `'${word}'`).join(' ');
    expect(await shell(`cd '${cwd}' && { ${node} tail ${id} || echo failed; } | head -n 1`)).toMatch(
      /^ +0 .*SessionStarted.*\n$/,
    );
  });
});

describe('a session that does not go well', () => {
  it('exits 1 with why, when it fails', async () => {
    const ran = await startSession(unique('s'), 'this is no JSON', '--follow');
    expect(ran.exit).toBe(1);
    expect(ran.stdout).toMatch(/AgentLifecycle +failed/);
    expect(ran.stderr).toMatch(/^error: SESSION_FAILED: .* is failed/);
  });

  it('W3: is followed through the loss of its worker', async () => {
    const id = unique('s');
    await startSession(id, goalOf(call('wait', { mark: id }), call('save', { text: 'after' })));
    const tail = start(['tail', id], { cwd });
    await tail.line(/GenerationCompleted/);
    await untilWaiting(id);
    worker.kill('SIGKILL');
    await worker.ended;
    worker = await startWorker();
    const { exit, stdout } = await tail.ended;
    expect(exit).toBe(0);
    expect(stdout).toMatch(/AgentResuming +epoch 1[\s\S]*AgentResumed +epoch 1[\s\S]*AgentLifecycle +completed\n$/);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => Number(line.trim().split(' ')[0])),
    ).toEqual(
      stdout
        .trim()
        .split('\n')
        .map((_, seq) => seq),
    );
    expect(await run('verify', id)).toMatchObject({ exit: 0 });
  }, 120_000);

  it('is cancelled, and its tools with it', async () => {
    const id = unique('s');
    await startSession(id, goalOf(call('wait', { mark: id })));
    await untilWaiting(id);
    expect(await run('cancel', id, '--reason', 'enough')).toMatchObject({ exit: 0 });
    const ran = await run('output', id, '--json');
    expect(ran.exit).toBe(1);
    expect(errorOf(ran)).toMatchObject({ code: 'SESSION_FAILED', phase: 'cancelled', detail: 'enough' });
  });
});

describe('a session that waits for a person', () => {
  it('H1, H2: is answered from the command line and by Temporal’s, once each', async () => {
    const id = unique('s');
    const calls = [
      { tool: 'save', args: { text: '!a' } },
      { tool: 'save', args: { text: "!it's" } },
    ];
    await startSession(id, goalOf({ calls }));
    const tail = start(['tail', id, '--json'], { cwd });
    await tail.line(/PauseRaised/);
    const [one, other] = await pausesOf(id);
    expect(one).toMatchObject({
      kind: 'approval',
      tool: 'save',
      args: { text: '!a' },
      accepts: ['approve', 'reject', 'edit'],
    });
    const { pause = '' } = one ?? {};
    expect((await run('pauses')).stdout).toContain(`apomesh answer ${id} ${pause} approve`);

    expect(await run('output', id, '--no-wait')).toMatchObject({ exit: 4 });
    expect(await run('answer', id, pause, 'perhaps')).toMatchObject({ exit: 2 });
    expect(await run('answer', id, 'nope', 'approve')).toMatchObject({ exit: 3 });
    expect(await run('answer', id, pause, 'edit', '--args', '{"text":"edited"}', '--by', 'me')).toMatchObject({
      exit: 0,
    });
    const again = await run('answer', id, pause, 'approve', '--json');
    expect(again.exit).toBe(4);
    expect(errorOf(again)).toMatchObject({ code: 'PAUSE_ANSWERED', pause });

    await shell(other?.commands['approve']?.temporal ?? 'false');
    expect(await tail.ended).toMatchObject({ exit: 0 });
    const saved = await readFile(join(cwd, 'saved.txt'), 'utf8');
    expect(saved).toContain(' edited\n');
    expect(saved).toContain(" !it's\n");
    expect(saved).not.toContain(' !a\n');
  }, 120_000);

  it('is left by Ctrl-C on tail, which exits 130', async () => {
    const id = unique('s');
    await startSession(id, goalOf(call('save', { text: '!x' })));
    const tail = start(['tail', id], { cwd });
    await tail.line(/PauseRaised/);
    tail.kill('SIGINT');
    expect(await tail.ended).toMatchObject({ exit: 130, stderr: '' });
    const ran = await startSession(id, 'another goal');
    expect(ran.exit).toBe(4);
    expect(ran.stderr).toMatch(/^error: SESSION_LIVE: .*apomesh tail/);
    expect(await run('cancel', id)).toMatchObject({ exit: 0 });
  });
});

describe('apomesh dev', () => {
  it('uses the servers that are there, and runs a worker', async () => {
    const devQueue = unique('queue');
    const dev = start(['dev', '--json', '--task-queue', devQueue], { cwd });
    expect(JSON.parse(await dev.line(/temporal/))).toEqual({
      temporal: addressOf(),
      namespace: 'default',
      ui: null,
      mongo: mongoUriOf(),
    });
    await dev.line(/taskQueue/);
    const ran = await run('start', 'scribe', '--goal', '[]', '--task-queue', devQueue, '--follow');
    expect(ran.stdout).toMatch(/done\n$/);
    dev.kill('SIGTERM');
    expect(await dev.ended).toMatchObject({ exit: 0 });
  }, 120_000);

  it('starts what is missing, and stops it again, its data staying', async () => {
    const data = join(cwd, 'data');
    await mkdir(data);
    await symlink(join(import.meta.dirname, '..', '..', '.apomesh', 'pip'), join(data, 'pip'));
    const env = { TEMPORAL_ADDRESS: undefined, MONGODB_URI: undefined };
    const dev = start(['dev', '--no-worker', '--data', 'data'], { cwd, env });
    const [, temporal = ''] = /^Temporal +(\S+)/.exec(await dev.line(/^Temporal/)) ?? [];
    const [, mongo = ''] = /^MongoDB +(\S+)/.exec(await dev.line(/^MongoDB/)) ?? [];
    const [, ui = ''] = /^Web UI +(\S+)/.exec(await dev.line(/^Web UI/)) ?? [];
    expect((await fetch(ui)).status).toBe(200);
    const there = ['--address', temporal, '--mongo-uri', mongo];
    expect(await apomesh(['sessions', ...there], { cwd, env })).toMatchObject({ exit: 0, stdout: 'no sessions\n' });
    expect(await apomesh(['start', 'scribe', '--goal', '[]', '--id', 'kept', ...there], { cwd, env })).toMatchObject({
      exit: 0,
    });
    dev.kill('SIGINT');
    expect(await dev.ended).toMatchObject({ exit: 0 });
    await expect(fetch(ui)).rejects.toThrow();

    const again = start(['dev', '--no-worker', '--data', 'data', '--json'], { cwd, env });
    const { mongo: uri } = JSON.parse(await again.line(/mongo/));
    expect(jsonOf(await apomesh(['sessions', '--json', '--mongo-uri', uri], { cwd, env }))).toMatchObject([
      { session: 'kept' },
    ]);
    again.kill('SIGTERM');
    expect(await again.ended).toMatchObject({ exit: 0 });
  }, 240_000);
});

describe('apomesh worker', () => {
  it('W5: ends in order on SIGTERM', async () => {
    const id = unique('s');
    await startSession(id, goalOf(call('save', { text: 'slowly' }), call('save', { text: 'elsewhere' })));
    await until('the effect runs', async () => (await readFile(join(cwd, 'saved.txt'), 'utf8')).includes('slowly'));
    worker.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ exit: 0, stderr: '' });
    const { effects } = jsonOf<Verification>(await run('verify', id, '--json'));
    expect(effects).toEqual({ intents: 1, outcomes: 1, duplicates: 0, open: 0 });
    expect((await run('export', id)).stdout).toContain('"source":"release"');
  });
});
