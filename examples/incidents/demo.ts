import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { ApomeshClient, ApomeshPlugin, type SessionHandle } from 'apomesh';
import { crashOnce } from './demo/crash.ts';
import { printOutcome } from './demo/outcome.ts';
import { type Child, start, startBackends, stopAll } from './demo/processes.ts';
import { Progress } from './demo/progress.ts';

const { values: options } = parseArgs({
  options: {
    model: { type: 'string', default: 'rehearsal' },
    keep: { type: 'boolean', default: false },
    data: { type: 'string', default: '.apomesh' },
  },
});

const id = `incidents-${new Date()
  .toISOString()
  .replaceAll(/[-:]|\..*/g, '')
  .toLowerCase()}`;
const data = resolve(options.data);
const folder = join(data, 'demo', id);
const workdir = join(folder, 'work');
mkdirSync(workdir, { recursive: true });
// Read by the config, here and in the workers. An entry into the ledger takes a while, so that a worker can die in it.
Object.assign(process.env, {
  APOMESH_WORKDIR: workdir,
  APOMESH_MODEL: options.model,
  APOMESH_LEDGER_DELAY_MS: '1500',
});

const started: Child[] = [];
process.exitCode = await main().catch((error: unknown) => {
  console.error(error instanceof Error ? `error: ${error.message}` : error);
  return 1;
});

async function main(): Promise<number> {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => reject(new Error(`stopped by ${signal}`)));
  });
  let keep = false;
  try {
    const failed = await Promise.race([run(), interrupted]);
    keep = options.keep;
    return failed;
  } finally {
    if (keep) console.log(`\nLeft running: ${started.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ')}`);
    else await stopAll(started);
  }
}

async function run(): Promise<number> {
  const backends = await startBackends(data, started);
  console.log(`Temporal ${backends.temporal} (namespace ${backends.namespace}), MongoDB ${backends.mongo}`);
  Object.assign(process.env, {
    TEMPORAL_ADDRESS: backends.temporal,
    TEMPORAL_NAMESPACE: backends.namespace,
    MONGODB_URI: backends.mongo,
  });
  const config = join(import.meta.dirname, 'apomesh.config.ts');
  for (const name of ['worker-1', 'worker-2']) started.push(start(name, ['worker', '--config', config], folder));
  const plugin = new ApomeshPlugin((await import('./apomesh.config.ts')).default, { file: config });
  const connection = await Connection.connect({ address: backends.temporal });
  const client = new Client({ connection, namespace: backends.namespace, plugins: [plugin] });
  const apomesh = new ApomeshClient({ client });
  try {
    const goal = 'Triage the incident reports in reports/: write one ticket per distinct incident, and summary.md.';
    const session = await apomesh.sessions.start({ agent: 'incidents', id, goal });
    console.log(`Session ${id}: ${goal}`);
    await follow(session, client);
    const isWhole = await printOutcome(session, workdir);
    if (backends.ui) console.log(`Web UI    ${backends.ui}/namespaces/${backends.namespace}/workflows/${id}`);
    return isWhole ? 0 : 1;
  } finally {
    await apomesh.close();
    await connection.close();
  }
}

/** Shows the session as it goes, and in the middle of an effect kills the worker that holds it. */
async function follow(session: SessionHandle, client: Client): Promise<void> {
  const progress = new Progress(client, session.id, started);
  const crash = crashOnce(client, session.id, started);
  for await (const event of session.tail()) {
    await progress.show(event);
    const killed = await crash(event);
    if (killed) console.log(`          SIGKILL ${killed.name} (pid ${killed.pid}) in the middle of an effect`);
  }
}
