import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { proxyActivities } from '@temporalio/workflow';
import type { PlainActivities } from './activities.ts';

const { generate, callTool } = proxyActivities<PlainActivities>({ startToCloseTimeout: '1 minute' });

/** The same loop as a Temporal user would write it: the conversation lives in the workflow, each call is an activity. */
export async function plainSession(instructions: string, goal: string): Promise<string> {
  const prompt: LanguageModelV4Message[] = [
    { role: 'system', content: instructions },
    { role: 'user', content: [{ type: 'text', text: goal }] },
  ];
  for (;;) {
    const { content, calls, text } = await generate(prompt);
    prompt.push({ role: 'assistant', content });
    if (calls.length === 0) return text;
    const results = await Promise.all(
      calls.map(async ({ toolCallId, toolName, input }) => ({
        type: 'tool-result' as const,
        toolCallId,
        toolName,
        output: { type: 'json' as const, value: await callTool(toolName, input) },
      })),
    );
    prompt.push({ role: 'tool', content: results });
  }
}
