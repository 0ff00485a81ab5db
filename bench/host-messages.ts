import type { Side } from './sides.ts';
import type { Traffic } from './traffic.ts';

/** What a host process is started with. */
export interface HostOptions {
  readonly side: Side;
  /** `host:port` */
  readonly temporal: string;
  readonly mongo: string;
  readonly database: string;
  readonly taskQueue: string;
  /** File with the workflow bundle. */
  readonly bundle: string;
  /** Counts what goes to MongoDB, which costs time itself. */
  readonly counted: boolean;
  /** Milliseconds that a generation takes. */
  readonly latencyMs: number;
  readonly heartbeatTimeoutMs: number;
  /** Tells the parent of each generation as it begins. */
  readonly tells: boolean;
}

/** Sessions to run, at most so many at once. */
export interface RunRequest {
  readonly sessions: number;
  readonly atOnce: number;
  readonly steps: number;
}

export interface RunResult {
  /** Milliseconds of all of them, and of each. */
  readonly ms: number;
  readonly each: readonly number[];
  /** Processor time of the host, in milliseconds. */
  readonly cpuMs: number;
  /** Resident memory in bytes: before, and the most seen. */
  readonly rss: { readonly before: number; readonly peak: number };
  readonly traffic: Traffic | null;
  /** Of the last session. */
  readonly history: { readonly events: number; readonly bytes: number };
  /** When each generation of the last session began, in milliseconds. */
  readonly generations: readonly number[];
}

export type ToHost =
  | { readonly run: RunRequest }
  | { readonly start: { readonly session: string; readonly steps: number } }
  | { readonly terminate: string };

export type FromHost =
  | { readonly ready: true }
  | { readonly result: RunResult | null }
  | { readonly failed: string }
  | { readonly generation: { readonly session: string; readonly node: number } };
