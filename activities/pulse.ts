import { Context } from '@temporalio/activity';
import type { HeartbeatDetails } from '../src/contract/activities.ts';
import type { Engine } from './engine.ts';

/** How an activity hears from Temporal and its worker, and Temporal from it. */
export interface Pulse {
  /** Aborted when the work is to stop: the session was cancelled, or the activity counts as lost. */
  readonly stopped: AbortSignal;
  /** Aborted when the worker shuts down in order (W5): begin nothing more, and let go. */
  readonly released: AbortSignal;
  /** Aborted when the grace of a worker that shuts down is over: come to an end. */
  readonly drained: AbortSignal;
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
export function startPulse({ worker, leaving }: Engine, heartbeatTimeoutMs: number): Pulse {
  const context = Context.current();
  const stopped = new AbortController();
  const released = follow(leaving.released);
  const drained = follow(leaving.drained);
  let details: HeartbeatDetails = { node: 0, call: 'loading', worker };
  const beat = () => context.heartbeat(details);
  const first = setTimeout(beat, Math.min(heartbeatTimeoutMs / 10, LATEST_FIRST_BEAT_MS));
  const timer = setInterval(beat, heartbeatTimeoutMs / 3);
  const onAbort = () => {
    if (context.cancellationDetails?.workerShutdown === true) leaving.begin();
    else stopped.abort();
  };
  context.cancellationSignal.addEventListener('abort', onAbort, { once: true });
  return {
    stopped: stopped.signal,
    released: released.signal,
    drained: drained.signal,
    cancelled: () => context.cancellationDetails?.cancelRequested === true,
    tell: (told) => {
      details = { ...told, worker };
    },
    end: () => {
      clearTimeout(first);
      clearInterval(timer);
      released.end();
      drained.end();
    },
  };
}

/** A signal of an activity's own for one that lives as long as the worker: what is hung on it goes when the activity does. */
function follow(long: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const own = new AbortController();
  const abort = () => own.abort(long.reason);
  if (long.aborted) abort();
  else long.addEventListener('abort', abort, { once: true });
  return { signal: own.signal, end: () => long.removeEventListener('abort', abort) };
}
