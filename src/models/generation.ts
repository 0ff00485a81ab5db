import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { AskedCall, Generation } from '../agent/generation.ts';
import { UnserializableValueError } from '../contract/errors.ts';
import { assertJson } from '../session/canonical-json.ts';
import type { Json, JsonObject } from '../session/json.ts';

/**
 * What is kept of a model's result, as JSON carries it exactly (J5): the parts in the form that the next prompt takes,
 * with what providers want back (`providerOptions`: reasoning signatures and ids). Sources, citations and the provider's
 * own diagnostics are not kept.
 */
export function generationOf(result: LanguageModelV4GenerateResult): Generation {
  const calls: AskedCall[] = [];
  const content = result.content.flatMap((part, index) => partOf(part, index, calls));
  const text = result.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return {
    content,
    finish: result.finishReason.unified,
    usage: usageOf(result.usage),
    calls,
    text: wellFormed(result.structuredOutputText ?? text),
  };
}

function partOf(part: LanguageModelV4Content, index: number, calls: AskedCall[]): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (part.text === '' && !part.providerMetadata) return [];
      return [{ type: 'text', text: wellFormed(part.text), ...marks(part) }];
    case 'reasoning':
      return [{ type: 'reasoning', text: wellFormed(part.text), ...marks(part) }];
    case 'file':
    case 'reasoning-file':
      return [{ type: part.type, mediaType: part.mediaType, data: dataOf(part.data), ...marks(part) }];
    case 'custom':
      return [{ type: 'custom', kind: part.kind, ...marks(part) }];
    case 'tool-call':
      return [callPart(part, index, calls)];
    case 'tool-result':
      return part.preliminary === true ? [] : [providerResult(part)];
    case 'source':
    case 'tool-approval-request':
      return [];
    default:
      throw new TypeError(`unknown content ${JSON.stringify(part satisfies never)}`);
  }
}

function callPart(part: LanguageModelV4ToolCall, index: number, calls: AskedCall[]): JsonObject {
  const { args, problem } = argumentsOf(part.input);
  const byProvider = part.providerExecuted === true;
  const id = byProvider ? part.toolCallId : uniqueId(wellFormed(part.toolCallId), index, calls);
  const tool = wellFormed(part.toolName);
  if (!byProvider) calls.push({ id, tool, args, problem });
  return {
    type: 'tool-call',
    toolCallId: id,
    toolName: tool,
    // Providers take objects only; what was wrong with arguments that were none is told in the call's result.
    input: problem === null ? args : {},
    ...(byProvider && { providerExecuted: true }),
    ...marks(part),
  };
}

/** What a tool that the provider ran itself gave. */
function providerResult(part: Extract<LanguageModelV4Content, { type: 'tool-result' }>): JsonObject {
  const value = exact(part.result) ?? null;
  const form = typeof value === 'string' ? 'text' : 'json';
  return {
    type: 'tool-result',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    output: { type: part.isError === true ? `error-${form}` : form, value },
    ...marks(part),
  };
}

/** Some providers repeat ids or leave them empty, and then refuse the conversation that comes of it. */
function uniqueId(id: string, index: number, calls: readonly AskedCall[]): string {
  const isTaken = (one: string) => one === '' || calls.some((call) => call.id === one);
  let unique = id;
  for (let n = index; isTaken(unique); n += 1) unique = `${id || 'call'}-${n}`;
  return unique;
}

function argumentsOf(input: string): { args: Json; problem: string | null } {
  const text = wellFormed(input);
  if (text.trim() === '') return { args: {}, problem: null };
  let args: unknown;
  try {
    args = JSON.parse(text);
    assertJson(args);
  } catch (error) {
    if (error instanceof UnserializableValueError) return { args: text, problem: `the arguments hold ${found(error)}` };
    return { args: text, problem: `the arguments are not JSON: ${(error as Error).message}` };
  }
  if (typeof args === 'object' && args !== null && !Array.isArray(args)) return { args, problem: null };
  const what = args === null ? 'null' : Array.isArray(args) ? 'an array' : `a ${typeof args}`;
  return { args, problem: `the arguments must be a JSON object, not ${what}` };
}

const found = ({ fields }: UnserializableValueError) => `${String(fields['found'])} at ${String(fields['path'])}`;

function usageOf({ inputTokens: input, outputTokens: output }: LanguageModelV4Usage): Generation['usage'] {
  return {
    inputTokens: count(input.total ?? sum(input.noCache, input.cacheRead, input.cacheWrite)),
    outputTokens: count(output.total ?? sum(output.text, output.reasoning)),
  };
}

/** What is no count of tokens (a provider's NaN) would make the log unreadable. */
const count = (n: number): number => (Number.isFinite(n) && n > 0 ? n : 0);

const sum = (...counts: readonly (number | undefined)[]): number =>
  counts.reduce<number>((all, n) => all + (n ?? 0), 0);

function dataOf(data: { type: 'data'; data: Uint8Array | string } | { type: 'url'; url: URL }): JsonObject {
  if (data.type === 'url') return { type: 'url', url: String(data.url) };
  return { type: 'data', data: typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64') };
}

function marks(part: { providerMetadata?: unknown }): JsonObject {
  const providerOptions = exact(part.providerMetadata);
  return providerOptions === undefined ? {} : { providerOptions };
}

/**
 * The nearest value that JSON carries: what has no place in it (undefined, functions) is left out, bytes become base64.
 */
function exact(value: unknown): Json | undefined {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object') return undefined;
  if (ArrayBuffer.isView(value)) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return exact(value.toJSON());
  if (Array.isArray(value)) return value.map((item) => exact(item) ?? null);
  const entries = Object.entries(value).flatMap(([key, item]) => {
    const kept = exact(item);
    return kept === undefined ? [] : [[wellFormed(key), kept] as const];
  });
  return Object.fromEntries(entries);
}

/** Text without lone surrogates, which no UTF-8 carries: U+FFFD stands for each. */
const wellFormed = (text: string): string => (text as string & { toWellFormed(): string }).toWellFormed();
