import { APICallError, type LanguageModelV4Message } from '@ai-sdk/provider';
import { describe, expect, it } from '@jest/globals';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { generate } from '../../../src/models/generate.ts';
import { assistantMessage, toolMessage, userMessage } from '../../../src/models/prompt.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';

const ask = (prompt: LanguageModelV4Message[], signal = new AbortController().signal) => ({
  prompt,
  tools: [],
  output: null,
  signal,
  retry: { initialIntervalMs: 5 },
});

/** A model that calls `add` until the sum is three. */
const counter = () =>
  scriptedModel((prompt, { node }) => {
    const last = prompt.at(-1);
    if (node < 3) return { text: `step ${node}`, calls: [{ tool: 'add', args: { n: node } }] };
    return { text: `done after ${JSON.stringify(last?.content).length > 0 ? node : 0}` };
  });

const add = tool({ inputSchema: jsonSchema<{ n: number }>({ type: 'object' }), execute: ({ n }) => n + 1 });

describe('the scripted model', () => {
  it('W0: works inside the AI SDK, whole and streamed', async () => {
    const options = { model: counter(), tools: { add }, prompt: 'Go.', stopWhen: stepCountIs(9) };
    const whole = await generateText(options);
    const streamed = streamText(options);
    const texts: string[] = [];
    for await (const text of streamed.textStream) texts.push(text);
    expect(whole.text).toBe('done after 3');
    expect(whole.steps.flatMap((step) => step.toolCalls).map((call) => call.toolCallId)).toEqual([
      'call-0-0',
      'call-1-0',
      'call-2-0',
    ]);
    expect(texts.join('|')).toBe('step 0|step 1|step 2|done after 3');
    expect((await streamed.steps).flatMap((step) => step.toolResults).map((result) => result.output)).toEqual([
      1, 2, 3,
    ]);
  });

  it('W0: the same prompt gives the same answer, whatever was asked before', async () => {
    const model = counter();
    const prompt = [userMessage('Go.')];
    const first = await generate(model, ask(prompt));
    prompt.push(assistantMessage(first), toolMessage([{ callId: 'call-0-0', tool: 'add', outcome: 'ok', value: 1 }]));
    const second = await generate(model, ask(prompt));
    const again = await generate(counter(), ask(JSON.parse(JSON.stringify(prompt))));
    expect(again).toEqual(second);
    expect(second.usage).toEqual({ inputTokens: expect.any(Number), outputTokens: 4 });
    expect(second.usage.inputTokens).toBeGreaterThan(first.usage.inputTokens ?? 0);
  });

  it('C2: measuring a prompt costs what is new in it', async () => {
    const model = scriptedModel(() => ({ text: '' }));
    const prompt: LanguageModelV4Message[] = [];
    let read = 0;
    const counted = (text: string): LanguageModelV4Message => ({
      role: 'user',
      content: [
        {
          type: 'text',
          get text() {
            read++;
            return text;
          },
        },
      ],
    });
    for (let i = 0; i < 50; i++) {
      prompt.push(counted('x'.repeat(4)));
      const { usage } = await generate(model, ask(prompt));
      expect(usage.inputTokens).toBe(i + 1);
    }
    expect(read).toBe(50);
  });

  it('W0: reports the usage it is told', async () => {
    const model = scriptedModel(() => ({ text: 'x', usage: { inputTokens: 100, outputTokens: 7 } }));
    expect((await generate(model, ask([userMessage('a')]))).usage).toEqual({ inputTokens: 100, outputTokens: 7 });
  });

  it('W6: may fail as a provider does', async () => {
    let asked = 0;
    const failing = (isRetryable: boolean) =>
      scriptedModel(() => {
        if (++asked < 3) throw new APICallError({ message: 'busy', url: '', requestBodyValues: {}, isRetryable });
        return { text: 'ok' };
      });
    expect((await generate(failing(true), ask([]))).text).toBe('ok');
    asked = 0;
    await expect(generate(failing(false), ask([]))).rejects.toThrow('busy');
    expect(asked).toBe(1);
  });

  it('W0: an abort ends its latency', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('enough')), 20);
    const start = performance.now();
    const slow = scriptedModel(() => ({ text: 'late' }), { latencyMs: 5000 });
    await expect(slow.doGenerate({ prompt: [], abortSignal: controller.signal })).rejects.toThrow('enough');
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
