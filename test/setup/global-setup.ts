import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServices } from '../../src/services/services.ts';

const root = join(import.meta.dirname, '..', '..');

/** Starts Temporal and MongoDB once for all test files, unless the environment names running ones. */
export default async function globalSetup(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'apomesh-test-'));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
  const address = process.env['TEMPORAL_ADDRESS'];
  const uri = process.env['MONGODB_URI'];
  const services = await startServices({
    dataDir,
    binDir: join(root, '.apomesh'),
    temporal: address === undefined ? {} : { address },
    mongo: uri === undefined ? { testCommands: true } : { uri },
    say: (line) => process.stderr.write(`${line}\n`),
  });
  process.env['TEMPORAL_ADDRESS'] = services.temporal.address;
  process.env['MONGODB_URI'] = services.mongo.uri;
  globalThis.stopServices = async () => {
    await services.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

declare global {
  var stopServices: (() => Promise<void>) | undefined;
}
