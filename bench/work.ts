import type { LanguageModelV4 } from '@ai-sdk/provider';
import { z } from 'zod';
import { defineTool } from '../src/agent/tool.ts';
import { scriptedModel } from '../src/models/scripted.ts';

/** What every side does: so many steps of one generation of about 1 KB and one effect, then a final answer. */
export const instructions =
  'You keep notes. Write one note a step, as many as you are asked for, then say that it is done.';

export const goalOf = (session: string, steps: number): string => `${steps} notes for ${session}`;

/** The effect. It has nothing to wait for, so that what is measured is the cost of running it. */
export const noteTool = defineTool({
  name: 'note',
  description: 'Keeps a note.',
  input: z.object({ index: z.int().positive(), title: z.string().max(200), text: z.string() }),
  effect: 'effect',
  run: ({ index, title }) => Promise.resolve({ kept: index, title }),
});

export interface WorkModelOptions {
  /** Called as each generation begins. */
  readonly onGeneration: (session: string, node: number) => void;
  /** Milliseconds that a generation takes. */
  readonly latencyMs: number;
}

/** The model: `n notes for <session>` as the goal makes it call the tool `n` times. */
export function workModel({ onGeneration, latencyMs }: WorkModelOptions): LanguageModelV4 {
  return scriptedModel(
    (prompt, { node }) => {
      const goal = /^(\d+) notes for (.*)$/.exec(goalIn(prompt));
      if (!goal) throw new Error('the goal is none of the bench');
      onGeneration(goal[2] as string, node);
      const usage = { inputTokens: 300 * (node + 1), outputTokens: 250 };
      if (node >= Number(goal[1])) return { text: 'Done.', usage };
      const args = { index: node + 1, title: `Note ${node + 1}`, text: filler(node, 320) };
      return { text: filler(node, 600), calls: [{ tool: noteTool.name, args }], usage };
    },
    { latencyMs },
  );
}

function goalIn(prompt: Parameters<LanguageModelV4['doGenerate']>[0]['prompt']): string {
  const [part] = prompt.find((message) => message.role === 'user')?.content ?? [];
  return typeof part === 'object' && part.type === 'text' ? part.text : '';
}

const WORDS =
  'The incident began when the queue of the billing service grew past what its workers could drain. '.repeat(12);

/** Text of a length, different for each step. */
const filler = (node: number, length: number): string => `${node}: ${WORDS.slice(node % 90)}`.slice(0, length);
