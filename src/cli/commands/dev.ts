import { connect } from 'node:net';
import { resolve } from 'node:path';
import { startServices } from '../../services/services.ts';
import { configOf, interruptible } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line, note, styled } from '../terminal.ts';
import { runWorker } from '../worker.ts';

export interface DevCommand extends Common {
  readonly worker: boolean;
  readonly data: string;
  readonly taskQueue?: string;
}

const PROBE_MS = 1_000;

export async function dev(options: DevCommand): Promise<number> {
  const { json, taskQueue } = options;
  const config = options.worker ? await configOf(options) : null;
  const namespace = options.namespace ?? process.env['TEMPORAL_NAMESPACE'] ?? 'default';
  await interruptible(async (signal) => {
    const services = await startServices({
      dataDir: resolve(options.data),
      temporal: { namespace, ...(await givenTemporal(options.address ?? process.env['TEMPORAL_ADDRESS'])) },
      mongo: await givenMongo(options.mongoUri ?? process.env['MONGODB_URI'] ?? config?.mongo.uri ?? undefined),
      say: note,
    });
    try {
      const { temporal, mongo } = services;
      if (json)
        await jsonLine({
          temporal: temporal.address,
          namespace: temporal.namespace,
          ui: temporal.ui,
          mongo: mongo.uri,
        });
      else await sayAddresses(temporal, mongo.uri);
      if (config === null) return await untilAborted(signal);
      const onReady = async (worker: { taskQueue: string; identity: string }) => {
        if (json) await jsonLine({ worker: worker.identity, taskQueue: worker.taskQueue });
        else await line(`worker    ${worker.identity} on task queue ${worker.taskQueue}; Ctrl-C ends all of it`);
      };
      const { address } = temporal;
      const queue = taskQueue === undefined ? {} : { taskQueue };
      await runWorker({ config, address, namespace, mongo: { uri: mongo.uri }, signal, onReady, ...queue });
      return 0;
    } finally {
      await services.stop();
    }
  });
  return 0;
}

async function sayAddresses(
  temporal: { address: string; namespace: string; ui: string | null },
  uri: string,
): Promise<void> {
  await line(`Temporal  ${styled('bold', temporal.address)} (namespace ${temporal.namespace})`);
  if (temporal.ui !== null) await line(`Web UI    ${styled('bold', temporal.ui)}`);
  await line(`MongoDB   ${styled('bold', uri)}`);
}

const untilAborted = (signal: AbortSignal): Promise<number> =>
  new Promise((done) => {
    // A listener alone does not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    const end = () => {
      clearInterval(alive);
      done(0);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });

/** An address where something answers is used; one of this machine where nothing does is where to start. */
async function givenTemporal(address: string | undefined): Promise<{ address?: string; port?: number }> {
  if (address === undefined) return {};
  const port = await freeLocalPort(address);
  return port === null ? { address } : { port };
}

async function givenMongo(uri: string | undefined): Promise<{ uri?: string; port?: number }> {
  if (uri === undefined) return {};
  const host = /^mongodb:\/\/([^/@,]+)(?:\/|$)/.exec(uri)?.[1];
  const port = host === undefined ? null : await freeLocalPort(host.includes(':') ? host : `${host}:27017`);
  return port === null ? { uri } : { port };
}

/** The port of a `host:port` of this machine where nothing answers; null of any other. */
async function freeLocalPort(address: string): Promise<number | null> {
  const [, host, port] = /^(127\.0\.0\.1|localhost):(\d+)$/.exec(address) ?? [];
  if (host === undefined) return null;
  const socket = connect({ host, port: Number(port), timeout: PROBE_MS });
  const answers = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('timeout', () => resolve(false));
  });
  socket.destroy();
  return answers ? null : Number(port);
}
