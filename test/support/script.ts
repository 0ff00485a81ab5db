import { randomUUID } from 'node:crypto';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type ScriptedModelOptions, type ScriptStep, scriptedModel } from '../../src/models/scripted.ts';

/** A model that answers as the goal says, step by step, then `done`; and what it was shown. */
export interface GoalModel {
  readonly model: LanguageModelV4;
  /** The prompts of all generations that were asked for under a goal, as JSON. */
  prompts(goal: string): readonly string[];
}

/** A goal that tells a {@link GoalModel} what to answer. */
export const goalOf = (...steps: readonly ScriptStep[]): string => JSON.stringify({ id: randomUUID(), steps });

/** A step of calls. */
export const calls = (...asked: readonly (readonly [tool: string, args?: ScriptArgs])[]): ScriptStep => ({
  calls: asked.map(([tool, args = {}]) => ({ tool, args })),
});
type ScriptArgs = NonNullable<ScriptStep['calls']>[number]['args'];

export interface GoalModelOptions extends ScriptedModelOptions {
  /** Called before each answer, with the number of answers given before. */
  readonly before?: (node: number) => Promise<void>;
}

export function goalModel({ before, ...options }: GoalModelOptions = {}): GoalModel {
  const shown = new Map<string, string[]>();
  const model = scriptedModel(async (prompt, { node }) => {
    const goal = goalIn(prompt);
    shown.set(goal, [...(shown.get(goal) ?? []), JSON.stringify(prompt)]);
    await before?.(node);
    const { steps } = JSON.parse(goal) as { steps: readonly ScriptStep[] };
    return steps[node] ?? { text: 'done' };
  }, options);
  return { model, prompts: (goal) => shown.get(goal) ?? [] };
}

function goalIn(prompt: LanguageModelV4Prompt): string {
  for (const { role, content } of prompt) {
    const [part] = role === 'user' ? content : [];
    if (part?.type === 'text') return part.text;
  }
  throw new Error('the prompt has no goal');
}
