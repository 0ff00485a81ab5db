import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Generation } from '../agent/generation.ts';
import type { PinnedTool } from '../agent/shape.ts';
import type { JsonObject } from '../session/json.ts';
import { closedSchema } from './closed-schema.ts';
import { generationOf } from './generation.ts';
import { type ModelRetry, withRetry } from './retry.ts';

export interface GenerateOptions {
  readonly prompt: LanguageModelV4Prompt;
  /** What the model may call; none is fine. */
  readonly tools: readonly PinnedTool[];
  /** JSON schema of the final answer, or null for text. */
  readonly output: JsonObject | null;
  readonly signal: AbortSignal;
  readonly retry?: ModelRetry;
}

type JsonSchema = Extract<
  NonNullable<LanguageModelV4CallOptions['tools']>[number],
  { type: 'function' }
>['inputSchema'];

/**
 * Asks a model once, at a cost of its own that does not grow with the conversation. Errors that the AI SDK calls
 * retryable are retried (`retry`); others are thrown as they are. An aborted `signal` throws its reason at once, whether
 * the model heeds it or not.
 */
export async function generate(model: LanguageModelV4, options: GenerateOptions): Promise<Generation> {
  const { signal } = options;
  const call = callOptions(options);
  const result = await withRetry(() => unlessAborted(() => model.doGenerate(call), signal), signal, options.retry);
  return generationOf(result);
}

function callOptions({ prompt, tools, output, signal }: GenerateOptions): LanguageModelV4CallOptions {
  return {
    prompt,
    abortSignal: signal,
    ...(tools.length > 0 && {
      toolChoice: { type: 'auto' as const },
      tools: tools.map(({ name, description, input }) => ({
        type: 'function' as const,
        name,
        description,
        inputSchema: input as JsonSchema,
      })),
    }),
    ...(output && {
      responseFormat: { type: 'json' as const, name: 'output', schema: closedSchema(output) as JsonSchema },
    }),
  };
}

async function unlessAborted<T>(start: () => PromiseLike<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([start(), aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
