import { Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import type { FromHost, HostOptions, RunRequest, RunResult, ToHost } from './host-messages.ts';
import { type HostSide, openSide } from './host-sides.ts';

/** The process of one side: its worker and the client that starts sessions, for every side alike. */
const options = JSON.parse(process.argv[2] ?? '') as HostOptions;

const tell = (message: FromHost) => process.connected && process.send?.(message);

let generations: number[] = [];

function onGeneration(session: string, node: number): void {
  generations.push(performance.now());
  if (options.tells) tell({ generation: { session, node } });
}

let count = 0;

async function runOne(side: HostSide, steps: number): Promise<{ session: string; ms: number }> {
  count += 1;
  const session = `${options.taskQueue}-${process.pid}-${count}`;
  const began = performance.now();
  await side.start(session, steps);
  await side.client.workflow.getHandle(session).result();
  return { session, ms: performance.now() - began };
}

async function run(side: HostSide, { sessions, atOnce, steps }: RunRequest): Promise<RunResult> {
  generations = [];
  side.traffic?.take();
  const each: number[] = [];
  let last = '';
  let left = sessions;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      const { session, ms } = await runOne(side, steps);
      each.push(ms);
      last = session;
    }
  };
  const rss = { before: process.memoryUsage.rss(), peak: 0 };
  const look = () => {
    rss.peak = Math.max(rss.peak, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 50);
  const cpu = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: atOnce }, lane));
  const ms = performance.now() - began;
  const { user, system } = process.cpuUsage(cpu);
  clearInterval(timer);
  look();
  const { historyLength: events, historySize: bytes = 0 } = await side.client.workflow.getHandle(last).describe();
  const traffic = side.traffic?.take() ?? null;
  return { ms, each, cpuMs: (user + system) / 1_000, rss, traffic, history: { events, bytes }, generations };
}

async function answer(side: HostSide, message: ToHost): Promise<void> {
  try {
    if ('run' in message) {
      tell({ result: await run(side, message.run) });
    } else {
      if ('start' in message) await side.start(message.start.session, message.start.steps);
      else await side.client.workflow.getHandle(message.terminate).terminate();
      tell({ result: null });
    }
  } catch (error) {
    tell({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

Runtime.install({ logger: new DefaultLogger('WARN') });
const native = await NativeConnection.connect({ address: options.temporal });
const client = await Connection.connect({ address: options.temporal });
const side = await openSide(options, { native, client }, onGeneration);
await side.worker.runUntil(
  new Promise<void>((resolve) => {
    process.on('message', (message: ToHost) => void answer(side, message));
    process.once('disconnect', resolve);
    tell({ ready: true });
  }),
);
await side.close();
await client.close();
await native.close();
