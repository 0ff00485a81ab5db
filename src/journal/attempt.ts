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
  | { readonly of: 'silence'; readonly message: string };

type Late = (attempted: Attempted) => void;

/** The text of whatever was thrown, fit to be kept. */
export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message || thrown.name : String(thrown)).toWellFormed();

/**
 * Runs a tool once, for its time-out at most. When the signal aborts, the tool is told and has `graceMs` to come to an
 * end by itself. What it comes to after it was given up goes to `late`.
 */
export async function attempt(
  tool: Tool,
  args: Json,
  context: ToolContext,
  graceMs: number,
  late: Late = () => undefined,
): Promise<Attempted> {
  const limit = timeLimit(tool.timeoutMs);
  const timeout = limit.signal;
  const signal = AbortSignal.any([context.signal, timeout]);
  const running = Promise.resolve()
    .then(() => tool.run(args, { ...context, signal }))
    .then(
      (value): Attempted => ({ of: 'value', value: value === undefined ? null : value }),
      (thrown): Attempted => {
        if (timeout.aborted) return { of: 'silence', message: `timed out after ${tool.timeoutMs} ms` };
        return { of: thrown instanceof ToolOutcomeUnknownError ? 'silence' : 'error', message: messageOf(thrown) };
      },
    );
  let isGivenUp = false;
  void running.then((attempted) => isGivenUp && late(attempted));
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Attempted>();
  const onAbort = async () => {
    if (timeout.aborted) return stop({ of: 'silence', message: `timed out after ${tool.timeoutMs} ms` });
    await sleep(graceMs, undefined, { ref: false });
    stop({ of: 'silence', message: 'it was told to stop and did not' });
  };
  if (signal.aborted) void onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([running, stopped]);
  } finally {
    isGivenUp = true;
    limit.clear();
    signal.removeEventListener('abort', onAbort);
  }
}

/** Runs a tool as often as its retry policy says while it throws (W6), and while `again` lets it. */
export async function attempts(
  tool: Tool,
  args: Json,
  context: ToolContext,
  graceMs: number,
  late?: Late,
  again: () => Promise<boolean> = async () => true,
): Promise<Attempted> {
  let waitMs = tool.retry.initialIntervalMs;
  for (let made = 1; ; made += 1) {
    const attempted = await attempt(tool, args, context, graceMs, late);
    const isWorthIt =
      attempted.of === 'error' || (attempted.of === 'silence' && (tool.class === 'read' || tool.idempotent));
    if (!isWorthIt || made >= tool.retry.maximumAttempts || context.signal.aborted) return attempted;
    await sleep(waitMs, undefined, { signal: context.signal }).catch(() => undefined);
    if (!(await again())) return attempted;
    waitMs *= tool.retry.backoffCoefficient;
  }
}
