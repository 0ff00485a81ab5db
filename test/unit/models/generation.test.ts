import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import { describe, expect, it } from '@jest/globals';
import { generate } from '../../../src/models/generate.ts';
import { generationOf } from '../../../src/models/generation.ts';
import { checkOutput } from '../../../src/models/output.ts';
import { assistantMessage, toolMessage } from '../../../src/models/prompt.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { canonicalJson } from '../../../src/session/canonical-json.ts';

const noUsage: LanguageModelV4GenerateResult['usage'] = {
  inputTokens: { total: undefined, noCache: 3, cacheRead: 4, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

const resultOf = (content: LanguageModelV4Content[], more: Partial<LanguageModelV4GenerateResult> = {}) => ({
  content,
  finishReason: { unified: 'stop' as const, raw: 'end' },
  usage: noUsage,
  warnings: [],
  ...more,
});

describe('what is kept of a generation', () => {
  const content: LanguageModelV4Content[] = [
    { type: 'reasoning', text: 'Hm.', providerMetadata: { anthropic: { signature: 'abc', cache: undefined } } },
    { type: 'text', text: 'half \ud83d', citations: [] },
    { type: 'text', text: '' },
    { type: 'text', text: '', providerMetadata: { openai: { itemId: 'msg_1' } } },
    { type: 'source', sourceType: 'url', id: 's', url: 'https://example.org' },
    { type: 'file', mediaType: 'image/png', data: { type: 'data', data: Uint8Array.of(1, 2, 250) } },
    { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a.png') } },
    { type: 'custom', kind: 'openai.compaction', providerMetadata: { openai: { id: 'c1' } } },
    { type: 'tool-call', toolCallId: 'ws_1', toolName: 'search', input: '{"q":1}', providerExecuted: true },
    { type: 'tool-result', toolCallId: 'ws_1', toolName: 'search', result: { hits: 2 } },
    { type: 'tool-result', toolCallId: 'ws_1', toolName: 'search', result: 'part', preliminary: true },
  ];

  it('J5: is the same after a round trip through canonical JSON', () => {
    const kept = generationOf(resultOf(content));
    expect(JSON.parse(canonicalJson(kept))).toEqual(kept);
  });

  it('J5: goes into the next prompt as it came', () => {
    const kept = JSON.parse(canonicalJson(generationOf(resultOf(content))));
    expect(assistantMessage(kept)).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'abc' } } },
        { type: 'text', text: 'half \ufffd' },
        { type: 'text', text: '', providerOptions: { openai: { itemId: 'msg_1' } } },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQL6' } },
        { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL('https://example.org/a.png') } },
        { type: 'custom', kind: 'openai.compaction', providerOptions: { openai: { id: 'c1' } } },
        { type: 'tool-call', toolCallId: 'ws_1', toolName: 'search', input: { q: 1 }, providerExecuted: true },
        { type: 'tool-result', toolCallId: 'ws_1', toolName: 'search', output: { type: 'json', value: { hits: 2 } } },
      ],
    });
  });

  it('W0: calls that the provider ran itself are not ours to run', () => {
    expect(generationOf(resultOf(content)).calls).toEqual([]);
  });

  it('L8: counts that are none are taken for 0', () => {
    const usage = {
      inputTokens: { ...noUsage.inputTokens, total: Number.NaN },
      outputTokens: { ...noUsage.outputTokens, total: -1 },
    };
    expect(generationOf(resultOf([], { usage })).usage).toEqual({ inputTokens: 0, outputTokens: 0 });
  });

  it('E2: no two calls have the same id, whatever ids the model gives', () => {
    const call = (toolCallId: string) => ({ type: 'tool-call' as const, toolCallId, toolName: 't', input: '' });
    const { calls } = generationOf(resultOf(['a-2', 'a', 'a', '', ''].map(call)));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(5);
  });

  it('J5: an answer that JSON cannot carry does not fit', () => {
    const misfitOf = (text: string) => checkOutput(text, 'stop', { type: 'object' }).misfit;
    expect(misfitOf('{"a":"\\ud83d"}')).toMatch(/lone surrogate at \$\.a/);
    expect(misfitOf('{"a":1e999}')).toMatch(/Infinity at \$\.a/);
    expect(misfitOf('{"a":1}')).toBeNull();
  });

  it('F2: usage without totals is the sum of its parts', () => {
    expect(generationOf(resultOf([])).usage).toEqual({ inputTokens: 7, outputTokens: 0 });
  });

  it('L7: the text is the one the provider selects for structured output', () => {
    const parts: LanguageModelV4Content[] = [
      { type: 'text', text: 'draft ' },
      { type: 'text', text: '{}' },
    ];
    expect(generationOf(resultOf(parts)).text).toBe('draft {}');
    expect(generationOf(resultOf(parts, { structuredOutputText: '{}' })).text).toBe('{}');
  });
});

describe('what became of calls, as the model sees it', () => {
  it('W6: each outcome has its own form', () => {
    const of = (outcome: 'ok' | 'error' | 'denied' | 'unknown', value: string | null | { a: number }) =>
      toolMessage([{ callId: 'c', tool: 't', outcome, value }]).content[0];
    expect(of('ok', 'text')).toMatchObject({ output: { type: 'text', value: 'text' } });
    expect(of('ok', { a: 1 })).toMatchObject({ output: { type: 'json', value: { a: 1 } } });
    expect(of('ok', null)).toMatchObject({ output: { type: 'json', value: null } });
    expect(of('error', 'broken')).toMatchObject({ output: { type: 'error-text', value: 'broken' } });
    expect(of('unknown', 'who knows')).toMatchObject({ output: { type: 'error-text', value: 'who knows' } });
    expect(of('error', { a: 1 })).toMatchObject({ output: { type: 'error-json', value: { a: 1 } } });
    expect(of('denied', 'not today')).toMatchObject({ output: { type: 'execution-denied', reason: 'not today' } });
    expect(of('denied', null)).toMatchObject({ output: { type: 'execution-denied' } });
  });
});

describe('a model that does not heed the signal', () => {
  it('W0: is left behind when the signal is aborted', async () => {
    const deaf: LanguageModelV4 = { ...scriptedModel(() => ({})), doGenerate: () => new Promise(() => {}) };
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 20);
    const asked = generate(deaf, { prompt: [], tools: [], output: null, signal: controller.signal });
    await expect(asked).rejects.toThrow('enough');
  });
});
