import { setTimeout as sleep } from 'node:timers/promises';
import type { ToolContext } from '../agent/tool.ts';
import { ToolOutcomeUnknownError } from '../contract/errors.ts';
import type { Tool } from '../ports/tools.ts';
import type { Json } from '../session/json.ts';
import { timeLimit } from './time-limit.ts';

/** What one run of a tool came to. */
export type Attempted =
  | { readonly of: 'value'; readonly value: unknown }
  | { readonly of: 'error'; readonly message: string }
  /** Its time-out passed, its connection broke, or it was told to stop and did not in time: nobody knows what it did. */
  | { readonly of: 'silence'; readonly message: string }
  /** A read that the worker, which shuts down, did not wait for. */
  | { readonly of: 'cut'; readonly message: string };

export interface AttemptOptions {
  /** What a tool has that is told to stop, in milliseconds. */
  readonly graceMs: number;
  /** Aborted when the worker shuts down: effects are told, and still waited for; reads are not. */
  readonly drained: AbortSignal;
  /** Takes what a tool comes to after it was given up. */
  readonly late?: Late;
}

const cut: Attempted = { of: 'cut', message: 'the worker shuts down' };

type Late = (attempted: Attempted) => void;

/** The text of whatever was thrown, fit to be kept. */
export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message || thrown.name : String(thrown)).toWellFormed();

/**
 * Runs a tool once, for its time-out at most. When the context's signal aborts, the tool is told and has `graceMs` to come
 * to an end by itself; when the worker shuts down, an effect has the rest of its time-out (W5).
 */
export async function attempt(
  tool: Tool,
  args: Json,
  context: ToolContext,
  { graceMs, drained, late }: AttemptOptions,
): Promise<Attempted> {
  const limit = timeLimit(tool.timeoutMs);
  const timeout = limit.signal;
  const signal = AbortSignal.any([context.signal, timeout, drained]);
  const timedOut: Attempted = { of: 'silence', message: `timed out after ${tool.timeoutMs} ms` };
  const running = Promise.resolve()
    .then(() => tool.run(args, { ...context, signal }))
    .then(
      (value): Attempted => ({ of: 'value', value: value === undefined ? null : value }),
      (thrown): Attempted => {
        if (timeout.aborted) return timedOut;
        if (tool.class === 'read' && drained.aborted) return cut;
        return { of: thrown instanceof ToolOutcomeUnknownError ? 'silence' : 'error', message: messageOf(thrown) };
      },
    );
  let isGivenUp = false;
  void running.then((attempted) => isGivenUp && late?.(attempted));
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Attempted>();
  const onStop = async () => {
    await sleep(graceMs, undefined, { ref: false });
    stop({ of: 'silence', message: 'it was told to stop and did not' });
  };
  const unhear = [
    hear(timeout, () => stop(timedOut)),
    hear(context.signal, onStop),
    hear(drained, () => tool.class === 'read' && stop(cut)),
  ];
  try {
    return await Promise.race([running, stopped]);
  } finally {
    isGivenUp = true;
    limit.clear();
    for (const end of unhear) end();
  }
}

/** Calls back once a signal is aborted, or is already, until the returned function is called. */
function hear(signal: AbortSignal, listener: () => unknown): () => void {
  const onAbort = () => void listener();
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return () => signal.removeEventListener('abort', onAbort);
}

/** Runs a tool as often as its retry policy says while it throws (W6), and while `again` lets it and it is not told to stop. */
export async function attempts(
  tool: Tool,
  args: Json,
  context: ToolContext,
  options: AttemptOptions,
  again: () => Promise<boolean> = async () => true,
): Promise<Attempted> {
  const told = AbortSignal.any([context.signal, options.drained]);
  let waitMs = tool.retry.initialIntervalMs;
  for (let made = 1; ; made += 1) {
    const attempted = await attempt(tool, args, context, options);
    const isWorthIt =
      attempted.of === 'error' || (attempted.of === 'silence' && (tool.class === 'read' || tool.idempotent));
    if (!isWorthIt || made >= tool.retry.maximumAttempts) return attempted;
    await sleep(waitMs, undefined, { signal: told }).catch(() => undefined);
    if (options.drained.aborted && tool.class === 'read') return cut;
    if (told.aborted || !(await again())) return attempted;
    waitMs *= tool.retry.backoffCoefficient;
  }
}
