import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startChild, untilReady } from '../../../src/services/child.ts';

let folder: string;
const log = (): string => join(folder, 'log');
const node = (code: string) => startChild(process.execPath, ['-e', code], { log: log() });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'apomesh-child-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function within(ms: number, check: () => boolean): Promise<boolean> {
  for (const deadline = Date.now() + ms; Date.now() < deadline; await sleep(20)) if (check()) return true;
  return check();
}

/** Runs a process that starts a child of its own, prints its pid and exits without stopping it. */
function parentOf(end: string): Promise<number> {
  const module = resolve(import.meta.dirname, '../../../src/services/child.ts');
  const code = `
    const { startChild } = await import(${JSON.stringify(module)});
    const child = await startChild(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { log: ${JSON.stringify(log())} });
    console.log(child.pid);
    ${end}`;
  const args = ['--experimental-strip-types', '--no-warnings', '--input-type=module', '-e', code];
  return new Promise((done, failed) => {
    const parent = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    parent.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    parent.once('error', failed).once('close', () => done(Number(output)));
  });
}

describe('a child', () => {
  it('is stopped by SIGTERM, and stopping it again does nothing', async () => {
    const child = await node('setInterval(() => {}, 1000)');
    await child.stop();
    expect(child.ended()).toBe('ended with SIGTERM');
    expect(lives(child.pid)).toBe(false);
    await child.stop();
  });

  it('that ignores SIGTERM is stopped by SIGKILL after the grace', async () => {
    const child = await node('process.on("SIGTERM", () => {}); setInterval(() => {}, 1000); console.log("up")');
    await sleep(300);
    await child.stop(200);
    expect(child.ended()).toBe('ended with SIGKILL');
  });

  it('that ends before it is ready is reported at once, with the last line it wrote', async () => {
    const child = await node('console.error("first\\nport 1 is taken\\n"); process.exit(3)');
    const ready = untilReady(child, 'the server', () => new Promise(() => {}));
    await expect(ready).rejects.toThrow('the server ended with exit code 3: port 1 is taken');
  });

  it('that is not ready in time is stopped', async () => {
    const child = await node('console.log("thinking"); setInterval(() => {}, 1000)');
    const ready = untilReady(child, 'the server', () => Promise.reject(new Error('no')), 300);
    await expect(ready).rejects.toThrow('the server was not ready after 0.3 s: thinking');
    expect(lives(child.pid)).toBe(false);
  });

  it('that cannot be run at all is an error', async () => {
    await expect(startChild(join(folder, 'nothing'), [], { log: log() })).rejects.toThrow('ENOENT');
  });

  it('does not outlive a parent that exits without stopping it', async () => {
    const pid = await parentOf('process.exit(1)');
    expect(pid).toBeGreaterThan(0);
    expect(await within(5_000, () => !lives(pid))).toBe(true);
  });

  it('lives on when it is released', async () => {
    const pid = await parentOf('child.release()');
    expect(lives(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
  });
});
