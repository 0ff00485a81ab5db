import { dirname, resolve } from 'node:path';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { Duration } from '@temporalio/common';
import type { z } from 'zod';
import type { AgentDefinition } from '../agent/agent.ts';
import { builtInTools } from '../agent/built-in.ts';
import type { McpServerDefinition } from '../agent/mcp.ts';
import { isSkillTool } from '../agent/skill-tools.ts';
import type { ToolDefinition } from '../agent/tool.ts';
import { ConfigInvalidError } from '../contract/errors.ts';
import { createModels, type ModelProvider, type Price } from '../models/models.ts';
import type { ResolvedAgent, ResolvedRole } from '../pins/seal.ts';
import type { Models } from '../ports/models.ts';
import { zodTool } from '../tools/zod.ts';
import { configSchema } from './config-schema.ts';
import type { LimitsConfig, ResolvedLimits } from './limits.ts';

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
  readonly mongo: { readonly uri: string | null; readonly database: string };
}

/** Types a config. A mistake in it is reported when it is loaded, naming the field and the file. */
export function defineConfig(config: ApomeshConfig): ApomeshConfig {
  return config;
}

interface Problem {
  readonly field: string;
  readonly why: string;
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
  const { models, prices, agents, skills, limits, recovery, mongo } = parsed.data;
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
  const attempt = <T>(field: string | null, make: () => T): T | null => {
    try {
      return make();
    } catch (error) {
      if (!(error instanceof ConfigInvalidError)) throw error;
      problems.push({ field: field ?? String(error.fields['field']), why: String(error.fields['why']) });
      return null;
    }
  };
  for (const [i, tool] of config.tools.entries()) {
    attempt(null, () => zodTool(tool));
    if (builtInTools.has(tool.name))
      problems.push({ field: `tools[${i}].name`, why: `${tool.name} is a tool of apomesh's own; rename yours` });
    const first = config.tools.findIndex(({ name }) => name === tool.name);
    if (first < i) problems.push({ field: `tools[${i}].name`, why: `${tool.name} is tools[${first}] too; rename one` });
  }
  const models = attempt(null, () => createModels(config));
  for (const [i, agent] of config.agents.entries()) {
    const field = `agents[${i}]`;
    const first = config.agents.findIndex(({ name }) => name === agent.name);
    if (first < i) problems.push({ field: `${field}.name`, why: `${agent.name} is agents[${first}] too; rename one` });
    for (const [at, role] of rolesOf(field, agent)) {
      if (models && attempt(`${at}.model`, () => models.model(role.model))) {
        problems.push(...priceProblems(at, role, models));
      }
      problems.push(...toolProblems(at, role, config));
    }
  }
  return problems;
}

/** The agent itself and its roles, each with its field. */
const rolesOf = (field: string, agent: ResolvedAgent): [string, ResolvedRole][] => [
  [field, agent],
  ...Object.entries(agent.roles).map(([role, each]): [string, ResolvedRole] => [`${field}.roles.${role}`, each]),
];

function priceProblems(field: string, { model, budget }: ResolvedRole, models: Models): Problem[] {
  if (budget.maxCostUsd === null || models.cost(model, { inputTokens: 1, outputTokens: 1 }) !== undefined) return [];
  return [{ field: `${field}.budget.maxCostUsd`, why: `needs a price for ${model}; add it to prices` }];
}

/** With an MCP server in the config, a name that is none of ours may be a tool of it. */
function toolProblems(field: string, agent: ResolvedRole, { tools, mcp }: ResolvedConfig): Problem[] {
  const own = tools.map(({ name }) => name);
  const servers = Object.keys(mcp).map((server) => `${server}/*`);
  const available = [...own, ...servers];
  return agent.tools.flatMap((name, i) => {
    if (isSkillTool(name) && agent.skills.length === 0)
      return [{ field: `${field}.tools[${i}]`, why: `${name} is for agents with skills; name some in skills` }];
    if (available.includes(name) || builtInTools.has(name) || (servers.length > 0 && !name.endsWith('/*'))) return [];
    return [
      { field: `${field}.tools[${i}]`, why: `there is no tool ${name}; there is ${available.join(', ') || 'none'}` },
    ];
  });
}

function report(problems: readonly Problem[], file: string | null): ConfigInvalidError {
  const [first, ...others] = problems as readonly [Problem, ...Problem[]];
  const more = others.length === 0 ? '' : ` (wrong too: ${others.map(({ field }) => field).join(', ')})`;
  return new ConfigInvalidError(first.field, `${first.why.replace(/\.$/, '')}.${more}`, file);
}

function problemOf(issue: z.core.$ZodIssue): Problem {
  const field = pathOf(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const at = pathOf([...issue.path, issue.keys[0] ?? '']);
      return { field: at, why: 'there is no such field; check its spelling, or leave it out' };
    }
    case 'invalid_key':
      return { field, why: issue.issues[0]?.message ?? issue.message };
    case 'invalid_type': {
      const at = field || '(whole)';
      if (!issue.message.startsWith('Invalid input')) return { field: at, why: issue.message };
      const missing = issue.message.endsWith('received undefined');
      return { field: at, why: `${missing ? 'is missing; it must' : 'must'} be ${aOf(issue.expected)}` };
    }
    case 'invalid_value':
      if (!issue.message.startsWith('Invalid')) return { field, why: issue.message };
      return { field, why: `must be one of ${issue.values.map(String).join(', ')}` };
    default:
      return { field, why: issue.message };
  }
}

const aOf = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}
