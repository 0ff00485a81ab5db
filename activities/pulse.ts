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

const LATEST_FIRST_BEAT_MS = 500;

/**
 * Beats soon after its start, and then at a third of the time-out (W2). The start itself counts as a beat with Temporal, so
 * that an activity which is over by then costs none: each is a write of Temporal's.
 */
export function startPulse(worker: string, heartbeatTimeoutMs: number): Pulse {
  const context = Context.current();
  const stopped = new AbortController();
  const released = new AbortController();
  let details: HeartbeatDetails = { node: 0, call: 'loading', worker };
  const beat = () => context.heartbeat(details);
  const first = setTimeout(beat, Math.min(heartbeatTimeoutMs / 10, LATEST_FIRST_BEAT_MS));
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
    end: () => {
      clearTimeout(first);
      clearInterval(timer);
    },
  };
}
