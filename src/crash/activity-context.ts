import { asyncLocalStorage, CancelledFailure, Context } from '@temporalio/activity';
import { ActivityCancellationDetails, noopMetricMeter } from '@temporalio/common';
import { inProcess, type Process } from './process.ts';
import type { Turns } from './turns.ts';

/** Why an activity is told to stop. */
export type Stop = 'cancelRequested' | 'notFound';

export interface Running {
  readonly result: Promise<unknown>;
  /** Tells it to stop; once told, it stays told. */
  stop(why: Stop): void;
}

export interface ActivityOptions {
  readonly turns: Turns;
  readonly process: Process;
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly heartbeatMs: number;
  /** Called with each beat. */
  readonly onBeat: () => void;
}

type ConstructorOf<T> = T extends new (...args: infer Args) => unknown ? Args : never;

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Runs an activity in a process, in a context as a worker of Temporal's would give it. */
export function runActivity(options: ActivityOptions, run: () => Promise<unknown>): Running {
  const { turns, process, workflowId, runId, activityId, heartbeatMs, onBeat } = options;
  const controller = new AbortController();
  turns.atEnd(() => inProcess(process, () => controller.abort()));
  const cancelled = new Promise<never>((_, reject) =>
    controller.signal.addEventListener('abort', () => reject(new CancelledFailure('told to stop')), { once: true }),
  );
  cancelled.catch(() => undefined);
  const holder: { details?: ActivityCancellationDetails } = {};
  const info = { activityId, workflowExecution: { workflowId, runId }, heartbeatTimeoutMs: heartbeatMs };
  const args = [info, cancelled, controller.signal, onBeat, undefined, silent, noopMetricMeter, holder];
  const context = new Context(...(args as unknown as ConstructorOf<typeof Context>));
  return {
    result: inProcess(process, () => asyncLocalStorage.run(context, run)),
    stop: (why) => {
      if (controller.signal.aborted) return;
      holder.details = new ActivityCancellationDetails({ [why]: true });
      inProcess(process, () => controller.abort());
    },
  };
}
