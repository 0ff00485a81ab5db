import type { Duration } from '@temporalio/common';
import ms, { type StringValue } from 'ms';
import type { ToolOptions } from '../agent/tool.ts';
import { ConfigInvalidError } from '../contract/errors.ts';
import type { Tool } from '../ports/tools.ts';

const SECOND = 1000;
const onDoubts = ['ask', 'tell', 'fail'] as const;
const classes = ['read', 'effect'] as const;

/** Milliseconds of a duration; `field` is named where it is not a positive one. */
export function durationMs(field: string, value: Duration | undefined, byDefault: number): number {
  if (value === undefined) return byDefault;
  const millis = typeof value === 'number' ? value : parse(value);
  if (Number.isFinite(millis) && millis > 0) return millis;
  throw new ConfigInvalidError(
    field,
    `${JSON.stringify(value)} is no positive duration; write 30_000 or '30 seconds'.`,
  );
}

function parse(text: string): number {
  try {
    return ms(text as StringValue);
  } catch {
    return Number.NaN;
  }
}

function oneOf<T extends string>(field: string, value: T | undefined, allowed: readonly T[], byDefault: T): T {
  if (value === undefined) return byDefault;
  if (allowed.includes(value)) return value;
  throw new ConfigInvalidError(field, `${JSON.stringify(value)} is none of ${allowed.join(', ')}.`);
}

/** What `Tool` says beside names, schemas and code, with every default filled in. */
export type ResolvedToolOptions = Pick<Tool, 'class' | 'idempotent' | 'onDoubt' | 'timeoutMs' | 'retry' | 'taskQueue'>;

/** Fills in what a tool's options leave open (E1: no class is `effect`). `field` is where they stand in the config. */
export function resolveToolOptions(
  field: string,
  options: Omit<ToolOptions, 'approval'> & { readonly approval?: unknown },
): ResolvedToolOptions {
  const { retry = {}, approval = false, idempotent = false } = options;
  if (typeof approval !== 'boolean' && typeof approval !== 'function') {
    throw new ConfigInvalidError(`${field}.approval`, 'is neither a boolean nor a function of the arguments.');
  }
  if (typeof idempotent !== 'boolean') throw new ConfigInvalidError(`${field}.idempotent`, 'is no boolean.');
  return {
    class: oneOf(`${field}.effect`, options.effect, classes, 'effect'),
    idempotent,
    onDoubt: oneOf(`${field}.onDoubt`, options.onDoubt, onDoubts, 'ask'),
    timeoutMs: durationMs(`${field}.timeout`, options.timeout, 60 * SECOND),
    retry: {
      maximumAttempts: atLeastOne(`${field}.retry.maximumAttempts`, retry.maximumAttempts ?? 1, Number.isInteger),
      initialIntervalMs: durationMs(`${field}.retry.initialInterval`, retry.initialInterval, SECOND),
      backoffCoefficient: atLeastOne(
        `${field}.retry.backoffCoefficient`,
        retry.backoffCoefficient ?? 2,
        Number.isFinite,
      ),
    },
    taskQueue: options.taskQueue ?? null,
  };
}

function atLeastOne(field: string, value: number, fits: (value: unknown) => boolean): number {
  if (fits(value) && value >= 1) return value;
  throw new ConfigInvalidError(field, `${JSON.stringify(value)} is not allowed; the least is 1.`);
}

/**
 * Whether a call needs a person (H4). A predicate that throws asks for one: it must not let a call pass. So does one that
 * gives a promise, which cannot be waited for here.
 */
export function needsApproval<Args>(approval: boolean | ((args: Args) => boolean) | undefined, args: Args): boolean {
  if (typeof approval !== 'function') return approval ?? false;
  try {
    const needed: unknown = approval(args);
    if (needed instanceof Promise) needed.catch(() => undefined);
    return Boolean(needed);
  } catch {
    return true;
  }
}
