import type { LanguageModelV4, LanguageModelV4Message } from '@ai-sdk/provider';
import { Context } from '@temporalio/activity';
import { z } from 'zod';
import { noteTool } from '../work.ts';

type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

interface PlainCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments as the model wrote them: JSON text. */
  readonly input: string;
}

export interface PlainGeneration {
  readonly content: AssistantContent;
  readonly calls: readonly PlainCall[];
  readonly text: string;
}

export type PlainActivities = ReturnType<typeof plainActivities>;

const tools = [
  {
    type: 'function' as const,
    name: noteTool.name,
    description: noteTool.description,
    inputSchema: z.toJSONSchema(noteTool.input, { target: 'draft-7' }) as never,
  },
];

/** What the plain workflow calls: the model as the AI SDK offers it, and the tool, its arguments checked. No journal. */
export const plainActivities = (model: LanguageModelV4) => ({
  async generate(prompt: LanguageModelV4Message[]): Promise<PlainGeneration> {
    const { content } = await model.doGenerate({ prompt, tools, abortSignal: Context.current().cancellationSignal });
    const parts: AssistantContent = [];
    const calls: PlainCall[] = [];
    for (const part of content) {
      if (part.type === 'text') parts.push({ type: 'text', text: part.text });
      if (part.type !== 'tool-call') continue;
      const { toolCallId, toolName, input } = part;
      parts.push({ type: 'tool-call', toolCallId, toolName, input: JSON.parse(input) });
      calls.push({ toolCallId, toolName, input });
    }
    return { content: parts, calls, text: parts.map((part) => (part.type === 'text' ? part.text : '')).join('') };
  },

  async callTool(name: string, input: string) {
    if (name !== noteTool.name) throw new Error(`there is no tool ${name}`);
    const { activityId, workflowExecution } = Context.current().info;
    const session = workflowExecution?.workflowId ?? '';
    return noteTool.run(noteTool.input.parse(JSON.parse(input)), {
      key: `${session}/${activityId}`,
      signal: Context.current().cancellationSignal,
      agent: session,
      session,
      log: () => undefined,
    }) as Promise<{ kept: number; title: string }>;
  },
});
