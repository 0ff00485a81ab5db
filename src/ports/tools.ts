import type { Reconciled, ToolContext } from '../agent/tool.ts';
import type { ToolClass } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';

/** A tool that this worker can run, whatever brings it (zod, MCP). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly class: ToolClass;
  /** JSON schema of the input. */
  readonly inputSchema: JsonObject;
  readonly idempotent: boolean;
  readonly onDoubt: 'ask' | 'tell' | 'fail';
  readonly timeoutMs: number;
  readonly retry: {
    readonly maximumAttempts: number;
    readonly initialIntervalMs: number;
    readonly backoffCoefficient: number;
  };
  /** Null: the pool that runs the agent. */
  readonly taskQueue: string | null;
  /** Whether a person must approve a call with these (validated) arguments. */
  approval(args: Json): boolean;
  /**
   * Checks what a model or a person gave as arguments.
   *
   * @returns what is wrong, as text a model can act on, or null.
   */
  check(args: Json): string | null;
  /**
   * Runs it once. Gives whatever the tool returned, not yet checked to be JSON. Throws what the tool throws.
   *
   * @throws {InvalidToolInputError} for arguments that `check` would have found wrong.
   * @throws {ToolOutcomeUnknownError} where it cannot be known whether it happened.
   */
  run(args: Json, context: ToolContext): Promise<unknown>;
  /** Null where the tool cannot be asked. */
  readonly reconcile: ((args: Json, context: Pick<ToolContext, 'key' | 'signal'>) => Promise<Reconciled>) | null;
}

/** The tools of a worker. */
export interface Tools {
  /** Names of all tools of this worker, the platform's own apart. */
  readonly names: readonly string[];
  /** A tool of this worker, or one of the platform's own, which all have; null where there is none. */
  tool(name: string): Tool | null;
  /** Resolves an agent's tool list (`server/*` expanded), in order, each once. @throws {ConfigInvalidError} naming what is missing. */
  resolve(names: readonly string[]): readonly Tool[];
  /** Stops what was started (MCP servers). */
  close(): Promise<void>;
}
