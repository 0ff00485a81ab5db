import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { Json } from '../session/json.ts';
import { measurer, type PromptSize, tokensOf } from './prompt-size.ts';

/** What a scripted model answers. Neither text nor calls is an empty answer. */
export interface ScriptStep {
  /** With calls, what it says beside them; without, the final answer (JSON where the agent has an output shape). */
  readonly text?: string;
  /** Tools to call, all at once. */
  readonly calls?: readonly { readonly tool: string; readonly args: Json }[];
  /** Tokens to report. Default: estimated from the lengths of the prompt and of the answer. */
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
}

/** What a script is told beside the prompt. */
export interface ScriptCall {
  /** Answers the model gave before in this conversation: 0 at the first. */
  readonly node: number;
  /** Names of the tools it may call. */
  readonly tools: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export type Script = (prompt: LanguageModelV4Prompt, call: ScriptCall) => ScriptStep | Promise<ScriptStep>;

export interface ScriptedModelOptions {
  /** Milliseconds that an answer takes. Default 0. */
  readonly latencyMs?: number;
  /** Default `scripted`. */
  readonly modelId?: string;
}

/**
 * A language model that answers by a script, for tests and rehearsals: the same prompt gives the same answer, call ids
 * and usage. What the script throws is thrown as a model's error.
 */
export function scriptedModel(decide: Script, options: ScriptedModelOptions = {}): LanguageModelV4 {
  const measure = measurer();
  const answer = async (call: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> => {
    const { prompt, tools = [], abortSignal } = call;
    abortSignal?.throwIfAborted();
    const size = measure(prompt);
    const names = tools.map((tool) => tool.name);
    const step = await decide(prompt, { node: size.answers, tools: names, signal: abortSignal });
    await pause(options.latencyMs ?? 0, abortSignal);
    return resultOf(step, size);
  };
  return {
    specificationVersion: 'v4',
    provider: 'scripted',
    modelId: options.modelId ?? 'scripted',
    supportedUrls: {},
    doGenerate: answer,
    doStream: async (call) => ({ stream: ReadableStream.from(streamOf(await answer(call))) }),
  };
}

function resultOf({ text, calls = [], usage = {} }: ScriptStep, size: PromptSize): LanguageModelV4GenerateResult {
  const content: LanguageModelV4Content[] = text === undefined ? [] : [{ type: 'text', text }];
  for (const [i, { tool, args }] of calls.entries()) {
    const input = JSON.stringify(args);
    content.push({ type: 'tool-call', toolCallId: `call-${size.answers}-${i}`, toolName: tool, input });
  }
  const outputTokens = usage.outputTokens ?? tokensOf(content.reduce((sum, part) => sum + lengthOf(part), 0));
  return {
    content,
    finishReason: { unified: calls.length > 0 ? 'tool-calls' : 'stop', raw: undefined },
    usage: {
      inputTokens: {
        total: usage.inputTokens ?? size.tokens,
        noCache: undefined,
        cacheRead: undefined,
        cacheWrite: undefined,
      },
      outputTokens: { total: outputTokens, text: undefined, reasoning: undefined },
    },
    warnings: [],
  };
}

function lengthOf(part: LanguageModelV4Content): number {
  if (part.type === 'text') return part.text.length;
  return part.type === 'tool-call' ? part.toolName.length + part.input.length : 0;
}

function* streamOf({
  content,
  usage,
  finishReason,
}: LanguageModelV4GenerateResult): Generator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  for (const [i, part] of content.entries()) {
    if (part.type === 'text') {
      const id = `text-${i}`;
      yield { type: 'text-start', id };
      yield { type: 'text-delta', id, delta: part.text };
      yield { type: 'text-end', id };
    } else if (part.type === 'tool-call') {
      const id = part.toolCallId;
      yield { type: 'tool-input-start', id, toolName: part.toolName };
      yield { type: 'tool-input-delta', id, delta: part.input };
      yield { type: 'tool-input-end', id };
      yield part;
    }
  }
  yield { type: 'finish', usage, finishReason };
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
