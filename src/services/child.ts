import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const TAIL_BYTES = 4_096;

/** A process of ours that serves until it is stopped. It is sent SIGTERM when this process exits. */
export interface Child {
  readonly pid: number;
  /** File that has what it writes. */
  readonly log: string;
  /** How it ended, such as `ended with exit code 1`, or null while it runs. */
  ended(): string | null;
  /** Resolves when it has ended. */
  readonly gone: Promise<void>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it is gone. May be called again. */
  stop(graceMs?: number): Promise<void>;
  /** Lets it live on after this process. */
  release(): void;
}

const living = new Set<ChildProcess>();
let watching = false;

/** Stops on exit what nobody stopped. A signal without a handler ends a process before this: that is the caller's to handle. */
function watchExit(): void {
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const child of living) child.kill('SIGTERM');
  });
}

/**
 * Starts a command in a process group of its own, so that Ctrl-C in a terminal reaches only the one who must stop it.
 *
 * @throws when it cannot be run at all.
 */
export async function startChild(
  command: string,
  args: readonly string[],
  options: { readonly log: string; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Child> {
  const { log, cwd, env } = options;
  const written = openSync(log, 'w');
  const child = spawn(command, args, {
    detached: true,
    stdio: ['ignore', written, written],
    env: { ...process.env, ...env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  closeSync(written);
  const pid = await new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid as number));
  });
  watchExit();
  living.add(child);
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      living.delete(child);
      resolve();
    });
  });
  return {
    pid,
    log,
    gone,
    ended: () => endOf(child),
    stop: async (graceMs = 10_000) => {
      if (endOf(child) !== null) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await gone;
      clearTimeout(timer);
    },
    release: () => {
      living.delete(child);
      child.unref();
    },
  };
}

function endOf(child: ChildProcess): string | null {
  if (child.signalCode !== null) return `ended with ${child.signalCode}`;
  return child.exitCode === null ? null : `ended with exit code ${child.exitCode}`;
}

/**
 * Waits until `check` succeeds. Gives up, and stops the child, when it ends or the time is over; the error then has the
 * last line of the child's log.
 */
export async function untilReady(
  child: Child,
  what: string,
  check: () => Promise<unknown>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  const ended = (): boolean => child.ended() !== null;
  while (!ended() && Date.now() < deadline) {
    const passed = check().then(
      () => true,
      () => false,
    );
    if ((await Promise.race([passed, child.gone])) === true && !ended()) return;
    await sleep(50);
  }
  const how = child.ended() ?? `was not ready after ${timeoutMs / 1_000} s`;
  await child.stop(2_000);
  throw new Error(`${what} ${how}: ${await lastLine(child.log)}`);
}

async function lastLine(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, from);
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
    return lines.map((line) => line.trim()).findLast((line) => line !== '') ?? 'it wrote nothing';
  } finally {
    await handle.close();
  }
}
