import type { Duration } from '@temporalio/common';
import type { z } from 'zod';
import type { Json } from '../session/json.ts';

/** What a tool's code is given beside its arguments. */
export interface ToolContext {
  /** The effect key of this call (E2): the same on every attempt, so it serves as an idempotency key. */
  readonly key: string;
  /**
   * Aborted when the session is cancelled, the call's time-out has passed, the worker lost its right to run it, or the
   * worker shuts down and its grace is over: then the reason is a `WorkerShutdownError`, and what the tool gives or
   * throws still counts, up to its time-out (W5).
   */
  readonly signal: AbortSignal;
  /** AgentRef of the agent that asked. */
  readonly agent: string;
  readonly session: string;
  /** Writes to the worker's log; nothing of it enters the session's log. */
  readonly log: (message: string, fields?: Readonly<Record<string, Json>>) => void;
}

/** What `reconcile` found out about an effect in doubt. */
export type Reconciled = { happened: true; result: unknown } | { happened: false } | 'unknown';

/** How often a tool that throws is tried again (W6). An effect is tried again only where the tool says so here. */
export interface ToolRetry {
  /** Attempts in all, the first one included. Default 1. */
  readonly maximumAttempts?: number;
  /** Default 1 second. */
  readonly initialInterval?: Duration;
  /** Default 2. */
  readonly backoffCoefficient?: number;
}

/** How a tool is offered to agents and run; shared by zod tools and MCP tools. */
export interface ToolOptions {
  /**
   * `read`: free to repeat. `effect`: touches the outside world. A tool that declares none is an `effect` (E1).
   */
  readonly effect?: 'read' | 'effect';
  /** The tool honours `key` as an idempotency key, so a call in doubt may be run again (E4). Default false. */
  readonly idempotent?: boolean;
  /** What becomes of a call in doubt that neither `reconcile` nor `idempotent` settles (E4). Default `ask`. */
  readonly onDoubt?: 'ask' | 'tell' | 'fail';
  /** `true`, or a predicate on the arguments: a person must approve the call before it runs (H4). Default false. */
  readonly approval?: boolean | ((args: never) => boolean);
  /** Longest time one attempt may take. Default 60 seconds. */
  readonly timeout?: Duration;
  readonly retry?: ToolRetry;
  /** Task queue of the worker pool that runs this tool. Default: the pool that runs the agent. */
  readonly taskQueue?: string;
}

/** Declared as a method, so that tools of any arguments fit one list. */
type Predicate<Args> = { predicate(args: Args): boolean }['predicate'];

/** A tool in TypeScript, its input described by a zod schema. */
export interface ToolDefinition<Input extends z.ZodType = z.ZodType> extends Omit<ToolOptions, 'approval'> {
  readonly name: string;
  readonly description: string;
  readonly input: Input;
  readonly approval?: boolean | Predicate<z.output<Input>>;
  /** Asked about a call in doubt: did it happen? (E4) */
  reconcile?(args: z.output<Input>, context: Pick<ToolContext, 'key' | 'signal'>): Reconciled | Promise<Reconciled>;
  /** Does the work. The result must be a JSON value; `undefined` is recorded as `null`. */
  run(args: z.output<Input>, context: ToolContext): unknown;
}

/** Defines a tool. A mistake in it is reported when the config is loaded, naming the field. */
export function defineTool<Input extends z.ZodType>(tool: ToolDefinition<Input>): ToolDefinition<Input> {
  return tool;
}
