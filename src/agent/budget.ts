import type { Usage } from '../session/envelopes.ts';
import type { ResolvedBudget } from './shape.ts';

/** What an agent has used of its budget. */
export interface Spent {
  readonly steps: number;
  readonly tokens: number;
  readonly costUsd: number;
  readonly toolCalls: number;
}

export const nothingSpent: Spent = { steps: 0, tokens: 0, costUsd: 0, toolCalls: 0 };

export const spend = (spent: Spent, usage: Usage, toolCalls: number): Spent => ({
  steps: spent.steps + 1,
  tokens: spent.tokens + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
  costUsd: spent.costUsd + (usage.costUsd ?? 0),
  toolCalls: spent.toolCalls + toolCalls,
});

/**
 * The limit that forbids going on, or null. Tokens, cost and steps forbid a further generation, so calls that were asked
 * for under the budget still run; more tool calls than allowed, and a deadline, forbid at once.
 */
export function exhausted(spent: Spent, budget: ResolvedBudget, elapsedMs: number, callsOpen: boolean): string | null {
  const reached = (limit: number | null, used: number) => limit !== null && used >= limit;
  if (reached(budget.deadlineMs, elapsedMs)) return 'deadline';
  if (budget.maxToolCalls !== null && spent.toolCalls > budget.maxToolCalls) return 'maxToolCalls';
  if (callsOpen) return null;
  if (reached(budget.maxSteps, spent.steps)) return 'maxSteps';
  if (reached(budget.maxTokens, spent.tokens)) return 'maxTokens';
  if (reached(budget.maxCostUsd, spent.costUsd)) return 'maxCostUsd';
  return null;
}
