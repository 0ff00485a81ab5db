import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MongoClient } from 'mongodb';
import { startMongo } from '../../src/services/mongo.ts';
import { freePorts } from '../../src/services/ports.ts';
import { startServices } from '../../src/services/services.ts';
import { startTemporal } from '../../src/services/temporal.ts';

const running = { address: process.env['TEMPORAL_ADDRESS'] ?? '', uri: process.env['MONGODB_URI'] ?? '' };
const binDir = join(import.meta.dirname, '..', '..', '.apomesh');
let dataDir: string;
let said: string[];
const say = (line: string): void => {
  said.push(line);
};

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'apomesh-services-'));
});
beforeEach(() => {
  said = [];
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('services that run already', () => {
  it('are used as they are', async () => {
    const { address, uri } = running;
    const services = await startServices({ dataDir, temporal: { address }, mongo: { uri }, say });
    expect(services).toMatchObject({ temporal: { address, pid: null, ui: null }, mongo: { uri, pid: null }, pids: [] });
    await services.stop();
    await expect(startTemporal({ address, dataDir, say })).resolves.toMatchObject({ address });
  });

  it('are named when they do not answer, within 10 seconds, and nothing is started instead', async () => {
    const [port] = await freePorts(1);
    const before = Date.now();
    const [temporal, mongo] = await Promise.all([
      startTemporal({ address: `127.0.0.1:${port}`, dataDir, say }).catch((error: unknown) => error),
      startMongo({ uri: `mongodb://me:secret@127.0.0.1:${port}`, dataDir, say }).catch((error: unknown) => error),
    ]);
    expect(Date.now() - before).toBeLessThan(10_000);
    expect(temporal).toMatchObject({ code: 'TEMPORAL_UNREACHABLE', fields: { address: `127.0.0.1:${port}` } });
    expect(mongo).toMatchObject({ code: 'STORE_UNREACHABLE', fields: { address: `127.0.0.1:${port}` } });
    expect(String(mongo)).not.toContain('secret');
  });
});

describe('services that are started', () => {
  it('say what they are, keep their data over a restart, and leave nothing running', async () => {
    const first = await startServices({ dataDir, binDir, temporal: { namespace: 'mine' }, say });
    expect(first.pids).toHaveLength(2);
    expect(first.temporal.namespace).toBe('mine');
    expect((await fetch(first.temporal.ui ?? '')).status).toBe(200);
    expect(said.filter((line) => line.includes(': using '))).toHaveLength(2);
    const one = await MongoClient.connect(first.mongo.uri);
    await one
      .db('kept')
      .collection('things')
      .insertOne({ a: 1 }, { writeConcern: { w: 'majority', journal: true } });
    await one.close();
    await first.stop();
    expect(first.pids.filter(lives)).toEqual([]);

    const second = await startServices({ dataDir, binDir, say });
    const two = await MongoClient.connect(second.mongo.uri);
    expect(await two.db('kept').collection('things').countDocuments()).toBe(1);
    await two.close();
    await second.stop();
    expect(second.pids.filter(lives)).toEqual([]);
  });

  it('pass over a program on PATH that does not work, saying why', async () => {
    const bin = join(dataDir, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'temporal'), '#!/bin/sh\necho "this is no server" >&2\nexit 7\n');
    await writeFile(join(bin, 'mongod'), '#!/bin/sh\necho "db version v4.4.29"\n');
    for (const name of ['temporal', 'mongod']) await chmod(join(bin, name), 0o755);
    const path = process.env['PATH'];
    process.env['PATH'] = `${bin}:${path}`;
    try {
      const services = await startServices({ dataDir: join(dataDir, 'other'), binDir, say });
      await services.stop();
    } finally {
      process.env['PATH'] = path;
    }
    expect(said).toContain(
      'Temporal: temporal on PATH passed over: temporal ended with exit code 7: this is no server',
    );
    expect(said).toContain(`MongoDB: mongod on PATH passed over: ${join(bin, 'mongod')} is v4.4.29, and 8.0 is needed`);
    expect(said.filter((line) => line.includes(': using '))).toHaveLength(2);
  });

  it('are refused on a port that is in use, and the other one is stopped again', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const port = (server.address() as { port: number }).port;
    const services = startServices({ dataDir: join(dataDir, 'third'), binDir, mongo: { port }, say });
    await expect(services).rejects.toMatchObject({
      code: 'STORE_UNREACHABLE',
      message: expect.stringContaining(`port ${port} is in use`),
    });
    server.close();
  });
});
