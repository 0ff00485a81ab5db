import type { ToolContext } from '../src/agent/tool.ts';
import type { Models } from '../src/ports/models.ts';
import type { Stores } from '../src/ports/store.ts';
import type { Tools } from '../src/ports/tools.ts';
import type { Workflows } from '../src/ports/workflows.ts';
import type { Sessions } from './sessions.ts';

/** Limits that the activities keep. */
export interface EngineLimits {
  /** Largest body, in bytes (L7). */
  readonly maxBodyBytes: number;
  /** Nodes and time of one slice (W0). */
  readonly sliceNodes: number;
  readonly sliceTimeMs: number;
  /** Heartbeat silence after which a worker counts as lost (W2). */
  readonly heartbeatTimeoutMs: number;
  /** Added to an effect's time-out before it may run again (E4). */
  readonly doubtGraceMs: number;
}

/** The orderly shutdown of a worker (W5). */
export interface Leaving {
  /** Aborted when it begins: agents between calls are let go, and nothing new is begun. */
  readonly released: AbortSignal;
  /** Aborted when the grace of what is in progress is over; the reason is what tools are told. */
  readonly drained: AbortSignal;
  /** Says that it has begun, where an activity hears of it first. */
  begin(): void;
}

/** What the activities of one worker work with. */
export interface Engine {
  readonly stores: Stores;
  readonly models: Models;
  readonly tools: Tools;
  readonly limits: EngineLimits;
  readonly sessions: Sessions;
  readonly workflows: Workflows;
  /** Id of this worker in the registry (W3). */
  readonly worker: string;
  readonly taskQueue: string;
  /** Settles once this worker has beaten recently enough to take a dispatch (W3). */
  readonly alive: () => Promise<void>;
  readonly leaving: Leaving;
  readonly log: ToolContext['log'];
}
