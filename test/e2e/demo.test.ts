import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newNamespace } from '../support/namespace.ts';

const MINUTE = 60_000;
const root = join(import.meta.dirname, '..', '..');
let data: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'apomesh-demo-'));
});
afterAll(() => rm(data, { recursive: true, force: true }));

/** Runs the demo from source against the tests' services. */
async function demo(): Promise<{ exit: number | null; said: string }> {
  const env = {
    ...process.env,
    TEMPORAL_NAMESPACE: await newNamespace('demo'),
    NODE_OPTIONS: '--conditions=apomesh:source --disable-warning=ExperimentalWarning',
  };
  const child = spawn(process.execPath, ['examples/incidents/demo.ts', '--data', data], { cwd: root, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  const [exit] = await once(child, 'close');
  return { exit, said };
}

it(
  'W3, E4: the demo loses a worker in the middle of an effect, and every incident is in the ledger once',
  async () => {
    const { exit, said } = await demo();
    expect({ exit, said }).toMatchObject({ exit: 0 });
    const order = ['SIGKILL worker-', 'AgentResuming', 'AgentResumed', 'completed', 'Result', ', 0 duplicates'];
    const places = order.map((words) => said.indexOf(words));
    expect({ places, said }).toMatchObject({ places: places.toSorted((a, b) => a - b) });
    expect(places[0]).toBeGreaterThan(0);
    const [session = ''] = await readdir(join(data, 'demo'));
    const work = join(data, 'demo', session, 'work');
    const tickets = await readdir(join(work, 'tickets'));
    const ledger = (await readFile(join(work, 'ledger.jsonl'), 'utf8')).trim().split('\n');
    const entered = ledger.map((line) => `${(JSON.parse(line) as { incident: string }).incident}.md`);
    expect(entered.toSorted()).toEqual(tickets.toSorted());
    expect(await readFile(join(work, 'summary.md'), 'utf8')).toContain('untitled-draft.md');
  },
  3 * MINUTE,
);
