import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Connection } from '@temporalio/client';
import { addressOf, unique } from '../support/pool.ts';
import { until } from '../support/until.ts';

const root = join(import.meta.dirname, '..', '..');
const quickstart = join(root, 'examples', 'quickstart');
const MINUTE = 60_000;
const namespace = unique('quickstart');
let folder: string;
let ledger: string;
let env: NodeJS.ProcessEnv;
let worker: { process: ChildProcess; said: string[] } | undefined;

/** A namespace of its own, as the example's worker polls the default task queue. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-quickstart-'));
  ledger = join(folder, 'refunds.jsonl');
  const conditions = '--conditions=apomesh:source --disable-warning=ExperimentalWarning';
  env = { ...process.env, TEMPORAL_NAMESPACE: namespace, REFUNDS_FILE: ledger, NODE_OPTIONS: conditions };
  const connection = await Connection.connect({ address: addressOf() });
  const workflowExecutionRetentionPeriod = { seconds: 86_400 as never };
  await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
  await until(`there is a namespace ${namespace}`, () =>
    connection.workflowService.describeNamespace({ namespace }).catch(() => null),
  );
  await connection.close();
}, MINUTE);
afterEach(async () => {
  if (!worker) return;
  const { process: ran, said } = worker;
  worker = undefined;
  const exited = once(ran, 'exit');
  ran.kill('SIGTERM');
  expect({ exit: await exited, said }).toMatchObject({ exit: [0, null] });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const node = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(process.execPath, args, { cwd: quickstart, env, timeout: MINUTE })).stdout;
const apomesh = (...args: string[]): Promise<string> => node(join(root, 'src', 'cli', 'main.ts'), ...args);

/** A worker until the test is over; what it says shows where it does not end in order. */
function startWorker(...args: string[]): void {
  const child = spawn(process.execPath, args, { cwd: quickstart, env, stdio: ['ignore', 'ignore', 'pipe'] });
  worker = { process: child, said: [] };
  child.stderr.setEncoding('utf8').on('data', (text: string) => worker?.said.push(text));
}

/** What was paid back, by order. */
async function refunds(): Promise<unknown[]> {
  const lines = (await readFile(ledger, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}

describe('the quickstart example', () => {
  it(
    'E4: refunds once at most under crash schedules',
    async () => {
      const mine = join(folder, 'crash.jsonl');
      const ran = promisify(execFile)(process.execPath, ['crash.ts', '40'], {
        cwd: quickstart,
        env: { ...env, REFUNDS_FILE: mine },
      });
      expect((await ran).stdout).toBe('Refunded once at most, unless a person said so.\n');
    },
    2 * MINUTE,
  );

  it(
    'H1: runs from TypeScript, and answers its approval',
    async () => {
      startWorker('worker.ts');
      const said = (await node('start.ts')).trimEnd().split('\n');
      expect(said).toContain('4 PauseRaised');
      expect(said.at(-1)).toBe('The refund is on its way.');
      expect(await refunds()).toEqual([expect.objectContaining({ order: 'A-17', amount: 240 })]);
    },
    2 * MINUTE,
  );

  it(
    'H1: runs from the command line: start, pauses, answer, output, verify',
    async () => {
      startWorker(join(root, 'src', 'cli', 'main.ts'), 'worker');
      const id = unique('refund');
      await apomesh('start', 'refunds', '--goal', 'Refund order B-2, 300 EUR.', '--id', id);
      const [pause] = await until(
        'a person is asked',
        async () => {
          const open = JSON.parse(await apomesh('pauses', id, '--json'));
          return open.length > 0 && open;
        },
        MINUTE,
      );
      expect(pause).toMatchObject({ kind: 'approval', tool: 'refund', args: { order: 'B-2', amount: 300 } });
      await apomesh('answer', id, pause.pause, 'reject', '--reason', 'too much', '--by', 'me');
      expect(await apomesh('output', id)).toContain('No refund: {"type":"execution-denied"');
      expect(await apomesh('verify', id)).toContain('sound');
      const followed = await apomesh('start', 'refunds', '--goal', 'Refund order C-3, 20 EUR.', '--follow');
      expect(followed.trimEnd().split('\n').at(-1)).toBe('The refund is on its way.');
      expect(await refunds()).toEqual([
        expect.objectContaining({ order: 'A-17' }),
        expect.objectContaining({ order: 'C-3', amount: 20 }),
      ]);
    },
    3 * MINUTE,
  );
});
