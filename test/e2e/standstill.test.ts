import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Envelope } from '../../src/session/envelopes.ts';
import { apomesh, errorOf, jsonOf, start } from '../support/cli.ts';
import { begun, ROOT, SESSION } from '../support/logs.ts';
import { openMongo, unique } from '../support/pool.ts';
import { until } from '../support/until.ts';
import { writeLog } from '../support/written.ts';

const database = unique('cli');
const lost = unique('lost');
const listed = unique('listed');

let cwd: string;
const run = (...args: string[]) => apomesh(args, { cwd });

/** Two sessions that wait for a person by their logs, and that Temporal does not run; a scan has seen one of them. */
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'apomesh-cli-'));
  await writeFile(join(cwd, 'apomesh.config.mjs'), `export default { mongo: { database: '${database}' } };`);
  const stores = openMongo(database);
  await stores.prepare();
  const { rows } = begun()
    .add('PauseRaised', ROOT, { pause: 'p', kind: 'approval', accepts: ['approve', 'reject'] })
    .add('AgentLifecycle', ROOT, { phase: 'waiting' });
  for (const id of [lost, listed])
    await writeLog(stores, JSON.parse(JSON.stringify(rows).replaceAll(`"${SESSION}`, `"${id}`)) as Envelope[]);
  const why = 'it has 2 side effects, so a person decides';
  await stores.list({ session: listed, class: 'side-effects', why, at: '2026-11-30T10:00:00.000Z' });
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

it('R2: a session that stands still is shown to, with what to do, by each command that reads it', async () => {
  const [shownLost, shownListed, sessions, pauses, asJson, recoverable] = await Promise.all([
    run('show', lost),
    run('show', listed),
    run('sessions'),
    run('pauses'),
    run('pauses', lost, '--json'),
    run('recoverable'),
  ]);
  const stopped = new RegExp(
    `has stopped: Temporal at \\S+ does not run it \\(unknown to it\\); .apomesh resume ${lost}.`,
  );
  const waits = new RegExp(
    `waits for an operator \\(side-effects\\): it has 2 side effects.*apomesh effects ${listed}.*apomesh resume ${listed}.`,
  );
  expect(shownLost.stdout).toMatch(stopped);
  expect(shownListed.stdout).toMatch(waits);
  expect(sessions.stdout).toMatch(new RegExp(`^${lost} +waiting +2026`, 'm'));
  expect(sessions.stdout).toMatch(new RegExp(`^${listed} +waiting \\(side-effects\\) +2026`, 'm'));
  expect(pauses.stdout).toMatch(stopped);
  expect(pauses.stdout).toMatch(waits);
  expect(jsonOf(asJson)).toMatchObject([{ pause: 'p', standstill: { class: null } }]);
  expect(recoverable.stdout).toMatch(/^side-effects: look at .*apomesh effects SESSION.*apomesh resume SESSION.$/m);
});

it('is followed all the same, which is said once, and has no output yet for a reason', async () => {
  const tail = start(['tail', lost], { cwd });
  await until('it says so', () => tail.stderr().includes('has stopped'));
  const ran = await run('output', lost, '--no-wait', '--json');
  expect(ran.exit).toBe(1);
  expect(errorOf(ran)).toMatchObject({ code: 'SESSION_STOPPED', status: 'unknown to it' });
  // Past the time after which a log that stands still is looked into.
  await sleep(6_000);
  tail.kill('SIGINT');
  const { exit, stdout, stderr } = await tail.ended;
  expect(exit).toBe(130);
  expect(stdout.trim().split('\n')).toHaveLength(4);
  expect(stderr.match(/note:/g)).toHaveLength(1);
});

it('where Temporal is away, is shown by its log', async () => {
  const ran = await run('show', lost, '--address', '127.0.0.1:1');
  expect(ran).toMatchObject({ exit: 0, stderr: '' });
  expect(ran.stdout).not.toContain('has stopped');
  expect(ran.ms).toBeLessThan(5_000);
});
