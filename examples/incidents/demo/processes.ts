import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A process that the demo has started. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly process: ChildProcess;
}

/** Where the backends answer; `ui` is Temporal's Web UI. */
export interface Backends {
  readonly temporal: string;
  readonly namespace: string;
  readonly ui: string | null;
  readonly mongo: string;
}

/** The `apomesh` command of the package as it is in use here, built or source. */
const index = import.meta.resolve('apomesh');
const APOMESH = [...process.execArgv, fileURLToPath(new URL(`cli/main${index.slice(-3)}`, index))];

/** Starts an `apomesh` command of its own process group, so that Ctrl-C reaches the demo alone; its output goes to a file. */
export function start(name: string, args: readonly string[], folder: string): Child {
  const log = openSync(join(folder, `${name}.log`), 'a');
  return child(name, spawn(process.execPath, [...APOMESH, ...args], { detached: true, stdio: ['ignore', log, log] }));
}

/** Finds or starts Temporal and MongoDB with `apomesh dev`, which says on stderr what it uses. */
export async function startBackends(data: string, started: Child[]): Promise<Backends> {
  const args = ['dev', '--no-worker', '--json', '--data', data];
  const dev = spawn(process.execPath, [...APOMESH, ...args], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  started.unshift(child('backends', dev));
  const lines = createInterface({ input: dev.stdout });
  const [first] = await Promise.race([once(lines, 'line'), once(dev, 'exit')]);
  if (typeof first !== 'string') throw new Error('Temporal and MongoDB could not be started');
  return JSON.parse(first) as Backends;
}

/** Stops all that still run, workers before the backends they use. */
export async function stopAll(started: readonly Child[]): Promise<void> {
  for (const one of started.toReversed()) await stop(one.process);
}

async function stop(one: ChildProcess): Promise<void> {
  if (one.exitCode !== null || one.signalCode !== null) return;
  const exited = once(one, 'exit');
  one.kill('SIGTERM');
  const isOver = await Promise.race([exited.then(() => true), sleep(15_000, false)]);
  if (!isOver) one.kill('SIGKILL');
  await exited;
}

function child(name: string, started: ChildProcess): Child {
  if (started.pid === undefined) throw new Error(`${name} could not be started`);
  return { name, pid: started.pid, process: started };
}
