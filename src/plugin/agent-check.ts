import { builtInTools } from '../agent/built-in.ts';
import { isSkillTool } from '../agent/skill-tools.ts';
import type { ResolvedAgent, ResolvedRole } from '../pins/seal.ts';
import type { Models } from '../ports/models.ts';
import type { ResolvedConfig } from './config.ts';
import { attempted, type Problem } from './problems.ts';

type AgentGround = Pick<ResolvedConfig, 'tools' | 'mcp'>;

/**
 * What a config lacks of what an agent names: models, prices, tools.
 *
 * @param prefix what stands before the agent's fields: `agents[0].`. @param models null where they are wrong themselves.
 */
export function agentProblems(
  prefix: string,
  agent: ResolvedAgent,
  config: AgentGround,
  models: Models | null,
): Problem[] {
  const problems: Problem[] = [];
  for (const [at, role] of rolesOf(prefix, agent)) {
    if (models && attempted(`${at}model`, problems, () => models.model(role.model))) {
      problems.push(...priceProblems(at, role, models));
    }
    problems.push(...toolProblems(at, role, config));
  }
  return problems;
}

/** The agent itself and its roles, each with what stands before its fields. */
const rolesOf = (prefix: string, agent: ResolvedAgent): [string, ResolvedRole][] => [
  [prefix, agent],
  ...Object.entries(agent.roles).map(([role, each]): [string, ResolvedRole] => [`${prefix}roles.${role}.`, each]),
];

function priceProblems(prefix: string, { model, budget }: ResolvedRole, models: Models): Problem[] {
  if (budget.maxCostUsd === null || models.cost(model, { inputTokens: 1, outputTokens: 1 }) !== undefined) return [];
  return [{ field: `${prefix}budget.maxCostUsd`, why: `needs a price for ${model}; add it to prices` }];
}

/** With an MCP server in the config, a name that is none of ours may be a tool of it. */
function toolProblems(prefix: string, agent: ResolvedRole, { tools, mcp }: AgentGround): Problem[] {
  const own = tools.map(({ name }) => name);
  const servers = Object.keys(mcp).map((server) => `${server}/*`);
  const available = [...own, ...servers];
  return agent.tools.flatMap((name, i) => {
    if (isSkillTool(name) && agent.skills.length === 0)
      return [{ field: `${prefix}tools[${i}]`, why: `${name} is for agents with skills; name some in skills` }];
    if (available.includes(name) || builtInTools.has(name) || (servers.length > 0 && !name.endsWith('/*'))) return [];
    return [
      { field: `${prefix}tools[${i}]`, why: `there is no tool ${name}; there is ${available.join(', ') || 'none'}` },
    ];
  });
}
