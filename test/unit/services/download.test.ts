import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { onPath, run } from '../../../src/services/commands.ts';
import { downloadProgram } from '../../../src/services/download.ts';

let folder: string;
let server: Server;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-download-'));
});
afterEach(async () => {
  server?.closeAllConnections();
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive`;
}

async function archive(): Promise<Buffer> {
  const from = join(folder, 'from');
  await mkdir(from);
  await writeFile(join(from, 'prog'), '#!/bin/sh\necho it runs\n');
  await writeFile(join(from, 'LICENSE'), 'not wanted');
  await chmod(join(from, 'prog'), 0o755);
  execFileSync('tar', ['-czf', join(folder, 'a.tgz'), '-C', from, 'prog', 'LICENSE']);
  return readFile(join(folder, 'a.tgz'));
}

describe('downloadProgram', () => {
  it('takes the program out of the archive, and asks no server when it is there already', async () => {
    const bytes = await archive();
    let requests = 0;
    const url = await serve((request, response) => {
      requests += 1;
      response.end(request.method === 'HEAD' ? undefined : bytes);
    });
    const file = join(folder, 'bin', 'prog');
    expect(await run(await downloadProgram(url, 'prog', file), [], 5_000)).toBe('it runs\n');
    expect(await readdir(join(folder, 'bin'))).toEqual(['prog']);
    const before = requests;
    await downloadProgram(url, 'prog', file);
    expect(requests).toBe(before);
  });

  it('leaves nothing behind when the server refuses or the archive is not one', async () => {
    const file = join(folder, 'bin', 'prog');
    const refusing = await serve((_request, response) => response.writeHead(404).end());
    await expect(downloadProgram(refusing, 'prog', file)).rejects.toThrow('answers 404');
    server.close();
    const broken = await serve((_request, response) => response.end('no archive'));
    await expect(downloadProgram(broken, 'prog', file)).rejects.toThrow('tar');
    expect(await readdir(join(folder, 'bin'))).toEqual([]);
  });

  it('gives up within 5 seconds on a server that does not answer', async () => {
    const url = await serve(() => {});
    const before = Date.now();
    await expect(downloadProgram(url, 'prog', join(folder, 'prog'))).rejects.toThrow('timeout');
    expect(Date.now() - before).toBeLessThan(6_500);
  });
});

describe('onPath', () => {
  it('finds the first runnable file of that name and says so when there is none', async () => {
    const [none, plain, good] = ['none', 'plain', 'good'].map((name) => join(folder, name)) as [string, string, string];
    await Promise.all([none, plain, good].map((path) => mkdir(path)));
    await writeFile(join(plain, 'prog'), '', { mode: 0o644 });
    await writeFile(join(good, 'prog'), '', { mode: 0o755 });
    expect(await onPath('prog', [none, plain, good].join(':'))).toBe(join(good, 'prog'));
    await expect(onPath('prog', [none, plain].join(':'))).rejects.toThrow('it is not there');
  });
});
