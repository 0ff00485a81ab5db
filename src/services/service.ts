import { ApomeshError, type ErrorCode } from '../contract/errors.ts';
import { isFree } from './ports.ts';

/** Told, one line each, what was tried and what is used. */
export type Say = (line: string) => void;

type Unreachable = 'TEMPORAL_UNREACHABLE' | 'STORE_UNREACHABLE';

/** A way to get a service; tried in order until one works. Throws with a short reason where it does not. */
export interface Source<T> {
  /** Said when it is used and when it is not, such as `the official download`. */
  readonly name: string;
  start(): Promise<T>;
}

/** No source could bring a service up. Fields: `service`, `tried` (a line for each source with why not). */
export class ServiceStartError extends ApomeshError {
  readonly code: ErrorCode;

  constructor(code: Unreachable, service: string, tried: readonly string[], fix: string) {
    super(`${service} could not be started: ${tried.join('; ')}. ${fix}`, { service, tried });
    this.code = code;
  }
}

/** The first line of what went wrong; `fetch failed` has the reason in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const whole = message === 'fetch failed' && cause instanceof Error ? `${message}: ${cause.message}` : message;
  return whole.split('\n', 1)[0] ?? whole;
}

/** @throws {ServiceStartError} where a port that was asked for is taken. */
export async function assertPorts(
  code: Unreachable,
  service: string,
  ports: readonly (number | undefined)[],
): Promise<void> {
  for (const port of ports) {
    if (port === undefined || (await isFree(port))) continue;
    const fix = 'Give another port, or the address of what runs there.';
    throw new ServiceStartError(code, service, [`port ${port} is in use`], fix);
  }
}

/** Tries sources in order and says which one is used and why the earlier ones were not. */
export async function startFirst<T>(
  code: Unreachable,
  service: string,
  sources: readonly Source<T>[],
  fix: string,
  say: Say,
): Promise<T> {
  const tried: string[] = [];
  for (const source of sources) {
    try {
      const started = await source.start();
      say(`${service}: using ${source.name}`);
      return started;
    } catch (error) {
      const line = `${source.name} passed over: ${reasonOf(error)}`;
      tried.push(line);
      say(`${service}: ${line}`);
    }
  }
  throw new ServiceStartError(code, service, tried, fix);
}
