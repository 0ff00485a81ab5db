import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { until } from './until.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** What Node is to run: the command line's source, `apomesh` being that source. */
export const COMMAND = ['--disable-warning=ExperimentalWarning', '--conditions=apomesh:source', MAIN];

/** Kept between starts of the source, of which a test makes many: each then takes two thirds of the time. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'apomesh-compile-cache');

export interface CliOptions {
  readonly cwd?: string;
  /** In place of and beside the tests' own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input. Default: none. */
  readonly input?: string | Uint8Array;
}

export interface Ran {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** A command that runs. */
export interface Running {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
  /** Waits until a line of standard output fits, and gives it. */
  line(pattern: RegExp): Promise<string>;
  readonly ended: Promise<Ran>;
}

const living = new Map<ChildProcess, Pick<Running, 'kill' | 'ended'>>();

/** Starts the real command line in a process of its own. */
export function start(args: readonly string[], { cwd, env = {}, input }: CliOptions = {}): Running {
  const since = performance.now();
  const child = spawn(process.execPath, [...COMMAND, ...args], {
    cwd,
    env: { ...process.env, NODE_OPTIONS: undefined, FORCE_COLOR: undefined, NODE_COMPILE_CACHE, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  }
  child.stdin.on('error', () => undefined).end(input);
  const ended = new Promise<Ran>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exit) => {
      living.delete(child);
      resolve({ exit, ...said, ms: performance.now() - since });
    });
  });
  const kill = (signal: NodeJS.Signals): void => {
    child.kill(signal);
  };
  living.set(child, { kill, ended });
  return {
    pid: child.pid ?? 0,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    kill,
    line: (pattern) =>
      until(
        `a line fits ${pattern}`,
        () =>
          said.stdout
            .split('\n')
            .slice(0, -1)
            .find((line) => pattern.test(line)),
        60_000,
      ),
    ended,
  };
}

/** Runs the real command line to its end. */
export const apomesh = (args: readonly string[], options: CliOptions = {}): Promise<Ran> => start(args, options).ended;

/** What `--json` wrote: one value. */
export const jsonOf = <T>({ stdout }: Ran): T => JSON.parse(stdout) as T;

/** What `--json` wrote to standard error. */
export const errorOf = ({ stderr }: Ran): { code: string; message: string; [field: string]: unknown } =>
  JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error;

afterAll(async () => {
  for (const [child, { kill, ended }] of living) {
    kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }
});
