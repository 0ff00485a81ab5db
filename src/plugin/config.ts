import { dirname, resolve } from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Duration } from '@temporalio/common';
import type { AgentDefinition } from '../agent/agent.ts';
import { builtInTools } from '../agent/built-in.ts';
import type { McpServerDefinition } from '../agent/mcp.ts';
import type { ToolDefinition } from '../agent/tool.ts';
import { createModels, type ModelProvider, type Price } from '../models/models.ts';
import type { ResolvedAgent } from '../pins/seal.ts';
import { zodTool } from '../tools/zod.ts';
import { agentProblems } from './agent-check.ts';
import { configSchema } from './config-schema.ts';
import type { LimitsConfig, ResolvedLimits } from './limits.ts';
import { attempted, type Problem, problemOf, report } from './problems.ts';

/** Where the store is. */
export interface MongoConfig {
  /** Default: MONGODB_URI of the environment, else `mongodb://127.0.0.1:27017`. */
  readonly uri?: string;
  /** Default `apomesh`. */
  readonly database?: string;
}

/** How sessions that were lost are found. */
export interface RecoveryConfig {
  /** How often Temporal asks for a scan, besides each start of a worker. From 1 second to 1 day; default 10 minutes. */
  readonly every?: Duration;
}

/** Which build of yours a worker is, for Temporal's Worker Versioning. */
export interface DeploymentConfig {
  /** Name of the worker deployment: the same for all builds of a pool. */
  readonly name: string;
  readonly buildId: string;
}

/** What one worker pool can do. Every field may be left out. */
export interface ApomeshConfig {
  /** By exact name a model of the AI SDK 7, by pattern (`openai/*`) a provider that makes one of what stands for the `*`. */
  readonly models?: Readonly<Record<string, LanguageModelV4 | ModelProvider>>;
  /** US dollars per million tokens, by exact name or pattern; needed where a budget has `maxCostUsd`. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly tools?: readonly ToolDefinition[];
  /** MCP servers, by the name that agents use for all their tools (`files/*`). */
  readonly mcp?: Readonly<Record<string, McpServerDefinition>>;
  readonly agents?: readonly AgentDefinition[];
  /** A folder with a folder for each skill, by the config's own folder. Default: only the skills in the store. */
  readonly skills?: string;
  readonly limits?: LimitsConfig;
  /** The boot scan that workers of this pool ask for (R1); false: they do not. */
  readonly recovery?: RecoveryConfig | false;
  /** Turns Worker Versioning on: sessions stay on the build that they began on. Default: off. */
  readonly deployment?: DeploymentConfig | undefined;
  readonly mongo?: MongoConfig;
}

/** A config that was checked, every default filled in. */
export interface ResolvedConfig {
  /** Where it was read; null where it was given in code. */
  readonly file: string | null;
  readonly models: Readonly<Record<string, LanguageModelV4 | ModelProvider>>;
  readonly prices: Readonly<Record<string, Price>>;
  readonly tools: readonly ToolDefinition[];
  readonly mcp: Readonly<Record<string, McpServerDefinition>>;
  readonly agents: readonly ResolvedAgent[];
  /** Absolute path; null: only the skills in the store. */
  readonly skills: string | null;
  readonly limits: ResolvedLimits;
  /** Null: workers ask for no scan. */
  readonly recovery: { readonly everyMs: number } | null;
  /** Null: workers are not versioned. */
  readonly deployment: DeploymentConfig | null;
  readonly mongo: { readonly uri: string | null; readonly database: string };
}

/** Types a config. A mistake in it is reported when it is loaded, naming the field and the file. */
export function defineConfig(config: ApomeshConfig): ApomeshConfig {
  return config;
}

/**
 * Checks a config and fills in its defaults; gives back one that it gave before. Nothing is started or connected: which tools an MCP server has shows later.
 *
 * @param file to name in errors; null where the config was given in code.
 * @throws {ConfigInvalidError} naming the field (`agents[0].model`) and the file.
 */
export function parseConfig(value: unknown, file: string | null): ResolvedConfig {
  if (isResolved(value)) return value;
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) throw report(parsed.error.issues.map(problemOf), file);
  const { models, prices, agents, skills, limits, recovery, deployment, mongo } = parsed.data;
  const given = value as ApomeshConfig;
  const config: ResolvedConfig = {
    file,
    models: models as ResolvedConfig['models'],
    prices,
    tools: given.tools ?? [],
    mcp: given.mcp ?? {},
    agents,
    skills: skills === null ? null : resolve(file === null ? process.cwd() : dirname(file), skills),
    limits,
    recovery: recovery === false ? null : { everyMs: recovery.every },
    deployment: deployment ?? null,
    mongo: { uri: mongo.uri ?? null, database: mongo.database },
  };
  const problems = crossCheck(config);
  if (problems.length > 0) throw report(problems, file);
  resolved.add(config);
  return config;
}

const resolved = new WeakSet<object>();

/** Whether a config has been through {@link parseConfig}. */
const isResolved = (value: unknown): value is ResolvedConfig =>
  typeof value === 'object' && value !== null && resolved.has(value);

function crossCheck(config: ResolvedConfig): Problem[] {
  const problems: Problem[] = [];
  const attempt = <T>(make: () => T): T | null => attempted(null, problems, make);
  for (const [i, tool] of config.tools.entries()) {
    attempt(() => zodTool(tool));
    if (builtInTools.has(tool.name))
      problems.push({ field: `tools[${i}].name`, why: `${tool.name} is a tool of apomesh's own; rename yours` });
    const first = config.tools.findIndex(({ name }) => name === tool.name);
    if (first < i) problems.push({ field: `tools[${i}].name`, why: `${tool.name} is tools[${first}] too; rename one` });
  }
  const models = attempt(() => createModels(config));
  for (const [i, agent] of config.agents.entries()) {
    const field = `agents[${i}]`;
    const first = config.agents.findIndex(({ name }) => name === agent.name);
    if (first < i) problems.push({ field: `${field}.name`, why: `${agent.name} is agents[${first}] too; rename one` });
    problems.push(...agentProblems(`${field}.`, agent, config, models));
  }
  return problems;
}
