import type {
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { CallOutcome } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** A generation's parts as they were kept. */
interface Kept {
  readonly content: readonly JsonObject[];
}

/** What became of one call, as the model is to see it. */
export interface ToolOutcome {
  readonly callId: string;
  readonly tool: string;
  readonly outcome: CallOutcome;
  /** The result; of `error`, `denied` and `unknown` what to tell the model, best as text. */
  readonly value: Json;
}

export const systemMessage = (instructions: string): LanguageModelV4Message => ({
  role: 'system',
  content: instructions,
});

export const userMessage = (text: string): LanguageModelV4Message => ({
  role: 'user',
  content: [{ type: 'text', text }],
});

/** What the model said, back in the form that providers take, with all they asked to get back (signatures and ids). */
export const assistantMessage = ({ content }: Kept): LanguageModelV4Message => ({
  role: 'assistant',
  content: content.map(assistantPart),
});

/**
 * What the calls of a generation gave. With the generation at hand the results come in the order asked, each with what
 * the provider attached to its call, which some want back there as well.
 */
export function toolMessage(results: readonly ToolOutcome[], generation?: Kept): LanguageModelV4Message {
  const calls = (generation?.content ?? []).filter((part) => part['type'] === 'tool-call');
  const places = new Map(calls.map((part, index) => [part['toolCallId'], { part, index }]));
  const placeOf = (result: ToolOutcome) => places.get(result.callId)?.index ?? calls.length;
  const ordered = results.toSorted((a, b) => placeOf(a) - placeOf(b));
  return { role: 'tool', content: ordered.map((result) => resultPart(result, places.get(result.callId)?.part)) };
}

function resultPart(result: ToolOutcome, call?: JsonObject): LanguageModelV4ToolResultPart {
  const options = call?.['providerOptions'] as SharedV4ProviderOptions | undefined;
  return {
    type: 'tool-result',
    toolCallId: result.callId,
    toolName: result.tool,
    output: outputOf(result.outcome, result.value),
    ...(options && { providerOptions: options }),
  };
}

function outputOf(outcome: CallOutcome, value: Json): LanguageModelV4ToolResultOutput {
  if (outcome === 'ok')
    return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value: mutable(value) };
  if (outcome === 'denied') {
    return {
      type: 'execution-denied',
      ...(value !== null && { reason: typeof value === 'string' ? value : JSON.stringify(value) }),
    };
  }
  return typeof value === 'string' ? { type: 'error-text', value } : { type: 'error-json', value: mutable(value) };
}

/** Parts are kept as the prompt takes them, apart from URLs, which JSON carries as text. */
function assistantPart(part: JsonObject): AssistantPart {
  const kept = part as unknown as AssistantPart;
  if ((kept.type !== 'file' && kept.type !== 'reasoning-file') || kept.data.type !== 'url') return kept;
  return { ...kept, data: { type: 'url', url: new URL(kept.data.url) } };
}

/** The AI SDK's JSON type is mutable and knows no readonly arrays; nothing changes the value. */
const mutable = (value: Json) => value as Extract<LanguageModelV4ToolResultOutput, { type: 'json' }>['value'];
