import type { Duration } from '@temporalio/common';

/** Limits of one worker pool. Durations are milliseconds, or text such as `'10s'` and `'5 minutes'`. */
export interface LimitsConfig {
  /** Heartbeat silence after which a worker counts as lost (W2). From 1 second to 10 minutes; default 10 seconds. */
  readonly heartbeatTimeout?: Duration;
  /** Largest body, in bytes of canonical JSON (L7). From 1 KiB to 15 MiB; default 8 MiB. */
  readonly maxBodyBytes?: number;
  /** Largest bundle: an agent's pin and the files of its skills together, in bytes. From 1 KiB to 1 GiB; default 32 MiB. */
  readonly maxBundleBytes?: number;
  /** Nodes after which a dispatch returns to the workflow (W0). From 1; default 200. */
  readonly sliceNodes?: number;
  /** Time after which a dispatch returns to the workflow (W0). From 1 second to 1 hour; default 5 minutes. */
  readonly sliceTime?: Duration;
  /**
   * Time beyond a call's own time-out before an effect in doubt may run again or a person is asked (E4), as the lost
   * worker's clock and network may lag. From 0 to 10 minutes; default 5 seconds.
   */
  readonly doubtGrace?: Duration;
  /**
   * How long a workflow task waits for the worker that has the workflow in its cache before any other may take it: what
   * a lost worker costs beyond the heartbeat time-out. From 100 milliseconds to 1 minute; default 500 milliseconds.
   */
  readonly stickyQueueTimeout?: Duration;
  /**
   * What work in progress is given to come to an end when the worker shuts down in order (W5): then tools are told to stop,
   * and generations are left to the next worker. From 0 to 1 hour; default 20 seconds.
   */
  readonly shutdownGrace?: Duration;
}

/** Limits with every default filled in. */
export interface ResolvedLimits {
  readonly heartbeatTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxBundleBytes: number;
  readonly sliceNodes: number;
  readonly sliceTimeMs: number;
  readonly doubtGraceMs: number;
  readonly stickyQueueTimeoutMs: number;
  readonly shutdownGraceMs: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const KIB = 1024;
const MIB = 1024 * KIB;

/** Least, most and default. */
export const limitRanges = {
  heartbeatTimeout: { least: SECOND, most: 10 * MINUTE, byDefault: 10 * SECOND },
  maxBodyBytes: { least: KIB, most: 15 * MIB, byDefault: 8 * MIB },
  maxBundleBytes: { least: KIB, most: 1024 * MIB, byDefault: 32 * MIB },
  sliceNodes: { least: 1, most: 100_000, byDefault: 200 },
  sliceTime: { least: SECOND, most: 60 * MINUTE, byDefault: 5 * MINUTE },
  doubtGrace: { least: 0, most: 10 * MINUTE, byDefault: 5 * SECOND },
  stickyQueueTimeout: { least: 100, most: MINUTE, byDefault: SECOND / 2 },
  shutdownGrace: { least: 0, most: 60 * MINUTE, byDefault: 20 * SECOND },
} as const satisfies Record<keyof LimitsConfig, { least: number; most: number; byDefault: number }>;

/** Time between two scans that Temporal's schedule asks for (R1). */
export const scanInterval = { least: SECOND, most: 24 * 60 * MINUTE, byDefault: 10 * MINUTE } as const;

/** Of what no session and no version names, how long ago it must have been stored or needed to be swept. */
export const leastSweepAgeMs = { least: 60 * MINUTE, byDefault: 24 * 60 * MINUTE } as const;
