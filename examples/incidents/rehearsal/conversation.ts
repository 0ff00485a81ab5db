import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

/** A tool call of the conversation and what became of it. */
export interface PastCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly ok: boolean;
  readonly denied: boolean;
  /** What the tool gave as text, or what it said instead. */
  readonly text: string;
}

/** All calls that have an outcome, in the order asked. */
export function pastCalls(prompt: LanguageModelV4Prompt): PastCall[] {
  const outputs = new Map<string, LanguageModelV4ToolResultOutput>();
  for (const message of prompt) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) if (part.type === 'tool-result') outputs.set(part.toolCallId, part.output);
  }
  return prompt.flatMap((message) => {
    if (message.role !== 'assistant') return [];
    return message.content.flatMap((part) => {
      const output = part.type === 'tool-call' ? outputs.get(part.toolCallId) : undefined;
      if (part.type !== 'tool-call' || output === undefined) return [];
      const ok = output.type === 'text' || output.type === 'json' || output.type === 'content';
      const denied = output.type === 'execution-denied';
      return [{ tool: part.toolName, args: part.input as PastCall['args'], ok, denied, text: textOf(output) }];
    });
  });
}

function textOf(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === 'execution-denied') return output.reason ?? 'denied';
  if (typeof output.value === 'string') return output.value;
  const { value } = output;
  const content = typeof value === 'object' && value !== null && 'content' in value ? value.content : undefined;
  return typeof content === 'string' ? content : JSON.stringify(value);
}
