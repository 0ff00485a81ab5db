import type { Duration } from '@temporalio/common';
import type { z } from 'zod';
import type { Durability } from '../session/envelopes.ts';
import type { JsonObject } from '../session/json.ts';
import type { CoordinationKind } from './shape.ts';

/** Limits of one agent; reaching one ends it in phase `exhausted` with the limit's name as the reason. */
export interface Budget {
  /** Generations. */
  readonly maxSteps?: number;
  /** Input and output tokens together. */
  readonly maxTokens?: number;
  readonly maxCostUsd?: number;
  readonly maxToolCalls?: number;
  /** Time from the session's start, waiting included. */
  readonly deadline?: Duration;
}

/** `loop`: one heartbeating activity runs the agent in slices. `call`: each generation and tool call is its own. (W0) */
export type DispatchMode = 'loop' | 'call';

/** What an agent works with, in a role or as the root. */
export interface RoleDefinition<Output extends z.ZodType = z.ZodType> {
  /** A key of the config's `models`, or a name that one of its patterns (`openai/*`) matches. */
  readonly model: string;
  readonly instructions: string;
  /** Names of tools. An MCP tool is named by its own name; `server/*` gives all tools of an MCP server. Default none. */
  readonly tools?: readonly string[];
  /** Names of skills that the live catalog has: the config's folder, else the store. Default none. */
  readonly skills?: readonly string[];
  readonly budget?: Budget;
  /** Shape of the final answer. The agent then ends with a JSON value that fits it; without it, with text. */
  readonly output?: Output;
  /** Default `loop`. */
  readonly dispatch?: DispatchMode;
}

export interface AgentDefinition<Output extends z.ZodType = z.ZodType> extends RoleDefinition<Output> {
  readonly name: string;
  /** Semantic version. Default `0.0.0`. */
  readonly version?: string;
  /** Which loop drives the session, and its parameters. Default `solo`, which has none. */
  readonly coordination?: CoordinationKind | { readonly kind: CoordinationKind; readonly params?: JsonObject };
  /** Default `checkpointed`. */
  readonly durability?: Durability;
  /** By name. Sealed with the agent; none is run yet. */
  readonly roles?: Readonly<Record<string, RoleDefinition>>;
}

/** An agent to publish: as one of a config, with a version, and an output shape that may be a JSON schema. */
export interface AgentManifest extends Omit<AgentDefinition, 'version' | 'output' | 'roles'> {
  readonly version: string;
  readonly output?: z.ZodType | JsonObject;
  readonly roles?: Readonly<Record<string, Omit<RoleDefinition, 'output'> & Pick<AgentManifest, 'output'>>>;
}

/** Defines an agent. A mistake in it is reported when the config is loaded, naming the field. */
export function defineAgent<Output extends z.ZodType>(agent: AgentDefinition<Output>): AgentDefinition<Output> {
  return agent;
}
