import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { MongoClient } from 'mongodb';
import { ApomeshClient } from '../../src/client/client.ts';
import type { SessionHandle } from '../../src/client/handle.ts';
import { ApomeshPlugin } from '../../src/plugin/plugin.ts';
import { startTemporal, type TemporalService } from '../../src/services/temporal.ts';
import { configOf, Deeds, GATE } from '../support/deeds.ts';
import { pauseOf, tailed } from '../support/doer.ts';
import { bundle, mongoUriOf, openMongo, unique } from '../support/pool.ts';
import type { PoolWorkerOptions } from '../support/pool-worker.ts';
import { calls, goalOf } from '../support/script.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const taskQueue = unique('lost');
const database = unique('lost');
const stores = openMongo(database);
const binDir = join(import.meta.dirname, '..', '..', '.apomesh');
const say = () => undefined;

let folder: string;
let deeds: Deeds;
let temporal: TemporalService;
let worker: WorkerProcess;
let connection: Connection;
let apomesh: ApomeshClient;
const sessions = new Map<string, SessionHandle>();

const startOne = (): Promise<WorkerProcess> => {
  const options: PoolWorkerOptions = {
    config: new URL('../support/deeds.ts', import.meta.url).href,
    folder: deeds.folder,
    temporal: temporal.address,
    mongo: mongoUriOf(),
    database,
    taskQueue,
    bundle: join(folder, 'workflows.js'),
  };
  return WorkerProcess.start(new URL('../support/pool-worker.ts', import.meta.url), options);
};

const session = (name: string): SessionHandle => {
  const found = sessions.get(name);
  if (!found) throw new Error(`there is no session ${name}`);
  return found;
};

async function start(name: string, agent: string, goal: string): Promise<SessionHandle> {
  const started = await apomesh.sessions.start({ agent, goal, id: name, taskQueue });
  sessions.set(name, started);
  return started;
}

/** Sessions in every state, as they are when the cluster is lost. */
async function beforeTheLoss(): Promise<void> {
  const permit = calls(['permit', { id: 'permitted' }]);
  await start('finished', 'goals-loop', goalOf(calls(['look', { id: 'open' }])));
  await start('reading', 'goals-loop', goalOf(calls(['look', { id: 'read' }])));
  await start('between', 'gated-loop', goalOf(calls(['look', { id: 'open' }]), calls(['look', { id: 'open' }])));
  await start('waiting', 'goals-call', goalOf(permit));
  await start('rejected', 'goals-loop', goalOf(calls(['permit', { id: 'refused' }], ['permit', { id: 'granted' }])));
  await start('effects', 'goals-loop', goalOf(calls(['ask', { id: 'done' }]), permit));
  await start('doubt', 'goals-loop', goalOf(calls(['ask', { id: 'doubtful' }])));
  await start('damaged', 'goals-loop', goalOf(permit));
  await start('unpinned', 'gated-call', goalOf(permit));
  await start('closed', 'goals-loop', goalOf(permit));
  await tailed(session('finished'));
  for (const name of ['waiting', 'rejected', 'effects', 'damaged', 'unpinned', 'closed']) await pauseOf(session(name));
  const [refused] = await session('rejected').pauses();
  await session('rejected').answer(String(refused?.pause), { decision: 'reject', reason: 'no' });
  for (const id of ['read', 'doubtful']) await until(`${id} has begun`, () => deeds.begun(id).length > 0);
  await until('the model is asked', async () => (await session('between').view()).lastSeq > 6);
  await new Client({ connection }).workflow.getHandle('closed').terminate('enough');
  await apomesh.recovery.scan();
}

/** What befalls the store meanwhile. */
async function damage(): Promise<void> {
  const client = new MongoClient(mongoUriOf());
  const db = client.db(database);
  await db.collection('events').deleteOne({ session: 'damaged', seq: 3 });
  await db
    .collection('pins')
    .deleteOne({ _id: String((await session('unpinned').view()).bootstrap?.pin.digest) as never });
  await client.close();
  const agent = 'orphan/root-1';
  const data = { phase: 'born', parent: null, role: 'root', task: null, config: {}, replaces: null } as const;
  const at = new Date().toISOString();
  await stores.write([
    {
      into: 'events',
      envelope: { v: 1, session: 'orphan', seq: 0, id: 'born', at, type: 'AgentLifecycle', agent, data },
    },
  ]);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-lost-'));
  deeds = new Deeds(join(folder, 'deeds'));
  for (const id of ['open', 'done', 'permitted', 'granted']) deeds.open(id);
  await writeFile(join(folder, 'workflows.js'), (await bundle()).code);
  temporal = await startTemporal({ dataDir: folder, binDir, say });
  connection = await Connection.connect({ address: temporal.address });
  const plugin = new ApomeshPlugin(configOf(deeds.folder), { stores });
  apomesh = new ApomeshClient({ client: new Client({ connection, plugins: [plugin] }) });
  worker = await startOne();
  await beforeTheLoss();
  worker.kill('SIGKILL');
  await worker.gone;
  await temporal.stop();
  await rm(join(folder, 'temporal'), { recursive: true });
  await damage();
  deeds.open(GATE);
  deeds.open('read');
  const port = Number(temporal.address.split(':')[1]);
  temporal = await startTemporal({ dataDir: folder, binDir, port, say });
  worker = await startOne();
});
afterAll(async () => {
  await worker.stop();
  await connection.close();
  await temporal.stop();
  await rm(folder, { recursive: true });
});

describe('after the loss of the Temporal cluster', () => {
  it('every session comes back, or is listed with its class (R2)', async () => {
    await until('all are seen to', async () => (await apomesh.recovery.list()).length === 6);
    const listed = await apomesh.recovery.list();
    expect(Object.fromEntries(listed.map((one) => [one.session, one.class]))).toEqual({
      closed: 'closed',
      damaged: 'unreadable',
      doubt: 'side-effects',
      effects: 'side-effects',
      orphan: 'no-bootstrap',
      unpinned: 'pin',
    });
    expect(listed.find((one) => one.session === 'damaged')?.why).toMatch(/seq 3/);
  });

  it.each(['reading', 'between'])('one that was %s goes on by itself to its end', async (name) => {
    const log = await tailed(session(name));
    expect(log.filter(({ type }) => type === 'SessionResumed')).toHaveLength(1);
    expect(log.at(-1)).toMatchObject({ type: 'AgentLifecycle', data: { phase: 'completed' } });
    await expect(session(name).verify()).resolves.toMatchObject({ ok: true });
  });

  it('a pause is still open under its id, and its answer counts (R7)', async () => {
    await until('it is resumed', async () => (await session('waiting').view()).resumes === 1);
    const raised = (await session('waiting').events()).filter(({ type }) => type === 'PauseRaised');
    expect(raised).toHaveLength(1);
    await session('waiting').answer(await pauseOf(session('waiting')), { decision: 'approve' });
    await expect(session('waiting').output()).resolves.toBe('done');
    expect(deeds.begun('permitted')).toHaveLength(1);
  });

  it('an answer that was accepted before still counts (R7)', async () => {
    const { pauses } = await session('rejected').view();
    expect(pauses).toHaveLength(1);
    await session('rejected').answer(String(pauses[0]?.pause), { decision: 'approve' });
    await expect(session('rejected').output()).resolves.toBe('done');
    expect(deeds.begun('refused')).toEqual([]);
    expect(deeds.begun('granted')).toHaveLength(1);
  });

  it('an operator resumes what has side effects, and none is done again (R4)', async () => {
    await apomesh.recovery.resume('effects');
    await session('effects').answer(await pauseOf(session('effects')), { decision: 'approve' });
    await expect(session('effects').output()).resolves.toBe('done');
    expect(deeds.begun('done')).toHaveLength(1);
  });

  it('an effect in progress then is in doubt, and a person says what became of it (E4)', async () => {
    await apomesh.recovery.resume('doubt');
    const pause = await pauseOf(session('doubt'));
    expect(pause).toMatch(/^in-doubt/);
    await session('doubt').answer(pause, { decision: 'happened', result: 'it was done' });
    await expect(session('doubt').output()).resolves.toBe('done');
    expect(deeds.begun('doubtful')).toHaveLength(1);
  });

  it('what is broken is not made up for, and what is over stays so (R6, P4)', async () => {
    const resume = (name: string) => apomesh.recovery.resume(name);
    await expect(resume('damaged')).rejects.toMatchObject({ code: 'LOG_UNREADABLE' });
    await expect(resume('unpinned')).rejects.toMatchObject({ code: 'PIN_CORRUPT' });
    await expect(resume('orphan')).rejects.toMatchObject({ code: 'NO_BOOTSTRAP' });
    await expect(resume('finished')).rejects.toMatchObject({ code: 'SESSION_TERMINAL' });
    await expect(resume('nobody')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' });
    await expect(resume('closed')).resolves.toMatchObject({ logged: true });
    expect((await session('finished').view()).resumes).toBe(0);
  });
});
