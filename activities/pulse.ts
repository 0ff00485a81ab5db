import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../src/contract/activities.ts';

/** How an activity hears from Temporal, and Temporal from it. */
export interface Pulse {
  /** Aborted when the work is to stop: the session was cancelled, or the activity counts as lost. */
  readonly stopped: AbortSignal;
  /** Aborted when the worker shuts down in order (W5): come to an end and let go. */
  readonly released: AbortSignal;
  /** Whether `stopped` is because the session was cancelled; otherwise somebody else drives the agent by now. */
  readonly cancelled: () => boolean;
  /** Says what is going on, with the next beat; shown with the pending activity in the Web UI. */
  readonly tell: (details: Omit<HeartbeatDetails, 'worker'>) => void;
  readonly end: () => void;
}

/** Beats from its first moment, and then at a third of the time-out (W2). */
export function startPulse(worker: string, heartbeatTimeoutMs: number): Pulse {
  const context = Context.current();
  const stopped = new AbortController();
  const released = new AbortController();
  let details: HeartbeatDetails = { node: 0, call: 'loading', worker };
  const beat = () => context.heartbeat(details);
  beat();
  const timer = setInterval(beat, heartbeatTimeoutMs / 3);
  context.cancellationSignal.addEventListener(
    'abort',
    () => (context.cancellationDetails?.workerShutdown === true ? released : stopped).abort(),
    { once: true },
  );
  return {
    stopped: stopped.signal,
    released: released.signal,
    cancelled: () => context.cancellationDetails?.cancelRequested === true,
    tell: (told) => {
      details = { ...told, worker };
    },
    end: () => clearInterval(timer),
  };
}
