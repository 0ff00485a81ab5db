import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { initiate } from '../stores/mongo/initiate.ts';
import { ping } from '../stores/mongo/ping.ts';
import { startChild, untilReady } from './child.ts';
import { onPath, run } from './commands.ts';
import { assertReachable } from './download.ts';
import { assertNoWheel, installWheel } from './pip.ts';
import { onPorts } from './ports.ts';
import { assertPorts, type Say, startFirst } from './service.ts';

const WHEEL = 'secantusdb==0.7.0b3';
const MONGODB = '8.0.17';
const OLDEST_MONGODB = 8;
const DOWNLOADS = 'https://fastdl.mongodb.org/';

export interface MongoOptions {
  /** Where a MongoDB runs already: nothing is started then. */
  readonly uri?: string;
  /** Folder for the server's data; made where missing. */
  readonly dataDir: string;
  /** Folder for programs that are fetched. Default `dataDir`. */
  readonly binDir?: string;
  /** Default: a free one. */
  readonly port?: number;
  /** Lets tests order failures (`configureFailPoint`) of a server that we start. Default false. */
  readonly testCommands?: boolean;
  /** Where MongoDB's archives are, asked before the download is tried. */
  readonly downloads?: string;
  readonly say: Say;
}

export interface MongoService {
  readonly uri: string;
  /** Null where it was running already. */
  readonly pid: number | null;
  /** Stops what was started here; otherwise does nothing. */
  stop(): Promise<void>;
  /** Lets what was started here live on after this process; it then is the caller's to stop, by `pid`. */
  release(): void;
}

/**
 * Finds or starts MongoDB: the address given, `mongod` or `secantusd-py` on PATH, the official download, the PyPI wheel of
 * secantusdb (which speaks MongoDB's protocol).
 *
 * @throws {StoreUnreachableError} when nothing answers at the address given within 5 seconds.
 * @throws {ServiceStartError} when none can be started.
 */
export async function startMongo(options: MongoOptions): Promise<MongoService> {
  const { uri, say, binDir = options.dataDir } = options;
  if (uri !== undefined) {
    const address = await ping(uri);
    say(`MongoDB: using the one at ${address}`);
    return { uri, pid: null, stop: async () => {}, release: () => {} };
  }
  await assertPorts('STORE_UNREACHABLE', 'MongoDB', [options.port]);
  return startFirst(
    'STORE_UNREACHABLE',
    'MongoDB',
    [
      { name: 'mongod on PATH', start: async () => startMongod(await recentMongod(await onPath('mongod')), options) },
      {
        name: 'secantusd-py on PATH',
        start: async () => startSecantus(await onPath('secantusd-py'), [], {}, options),
      },
      {
        name: 'the official download',
        start: async () => startMongod(await downloadMongod(binDir, options.downloads ?? DOWNLOADS), options),
      },
      {
        name: `the PyPI wheel ${WHEEL}`,
        start: async () => {
          const wheel = await installWheel(binDir, WHEEL, say);
          return startSecantus(wheel.python, [wheel.script('secantusd-py')], { PYTHONPATH: wheel.modules }, options);
        },
      },
    ],
    'Start one yourself (docker compose up -d) and give its address with --mongo-uri or MONGODB_URI.',
    say,
  );
}

/** @throws where it is too old for us. */
async function recentMongod(command: string): Promise<string> {
  const version = /v(\d+)\.\S+/.exec(await run(command, ['--version'], 10_000));
  if (version === null || Number(version[1]) < OLDEST_MONGODB) {
    throw new Error(`${command} is ${version?.[0] ?? 'of an unknown version'}, and ${OLDEST_MONGODB}.0 is needed`);
  }
  return command;
}

async function downloadMongod(binDir: string, downloads: string): Promise<string> {
  const { DryMongoBinary, MongoBinary } = await import('mongodb-memory-server-core');
  const wanted = { version: MONGODB, downloadDir: join(binDir, 'mongodb') };
  const found = await DryMongoBinary.locateBinary(wanted);
  if (found !== undefined) return found;
  await assertNoWheel(binDir, WHEEL);
  await assertReachable(downloads);
  await mkdir(wanted.downloadDir, { recursive: true });
  return MongoBinary.getPath(wanted);
}

/** A replica set of one node, as majority reads and writes need. */
async function startMongod(command: string, options: MongoOptions): Promise<MongoService> {
  const folder = join(options.dataDir, 'mongodb-data');
  await mkdir(folder, { recursive: true });
  return onPorts([options.port], async ([port]) => {
    const address = `127.0.0.1:${port}`;
    const child = await startChild(
      command,
      [
        ...['--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', `${port}`, '--replSet', 'apomesh'],
        ...(options.testCommands === true ? ['--setParameter', 'enableTestCommands=1'] : []),
      ],
      { log: join(options.dataDir, 'mongod.log') },
    );
    const uri = `mongodb://${address}/?directConnection=true`;
    await untilReady(child, 'mongod', () => initiate(uri, 'apomesh', address));
    return { uri, pid: child.pid, stop: () => child.stop(), release: child.release };
  });
}

/** Without `--sync-on-commit` an acknowledged write would not be on the disk; its retryable writes cost a scan each. */
async function startSecantus(
  command: string,
  before: readonly string[],
  env: Readonly<Record<string, string>>,
  options: MongoOptions,
): Promise<MongoService> {
  const folder = join(options.dataDir, 'secantus-data');
  await mkdir(folder, { recursive: true });
  return onPorts([options.port], async ([port]) => {
    const child = await startChild(
      command,
      [
        ...[...before, '--host', '127.0.0.1', '--port', `${port}`, '--storage-path', folder],
        ...['--sync-on-commit', '--log-level', 'WARNING'],
        ...(options.testCommands === true ? ['--enable-test-commands'] : []),
      ],
      { log: join(options.dataDir, 'secantus.log'), cwd: folder, env },
    );
    const uri = `mongodb://127.0.0.1:${port}/?directConnection=true&retryWrites=false`;
    await untilReady(child, 'secantusd-py', () => ping(uri, 1_000));
    return { uri, pid: child.pid, stop: () => child.stop(), release: child.release };
  });
}
