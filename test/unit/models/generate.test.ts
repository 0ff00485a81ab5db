import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, type LanguageModelV4Prompt } from '@ai-sdk/provider';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { PinnedTool } from '../../../src/agent/shape.ts';
import { type GenerateOptions, generate } from '../../../src/models/generate.ts';
import { assistantMessage, systemMessage, toolMessage, userMessage } from '../../../src/models/prompt.ts';
import { canonicalJson } from '../../../src/session/canonical-json.ts';
import { type OpenAiReply, type OpenAiServer, startOpenAi } from '../../support/openai-server.ts';

const weather: PinnedTool = {
  name: 'weather',
  description: 'The weather of a city.',
  class: 'read',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const prompt: LanguageModelV4Prompt = [systemMessage('Be brief.'), userMessage('Weather in Bern?')];
const fast = { initialIntervalMs: 20 };

const servers: OpenAiServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(...replies: readonly OpenAiReply[]) {
  const server = await startOpenAi((_, n) => replies[n] ?? { status: 418, text: 'asked too often' });
  servers.push(server);
  const provider = createOpenAI({ baseURL: server.baseURL, apiKey: 'none' });
  return { server, responses: provider.responses('gpt-5'), chat: provider.chat('gpt-4o') };
}

const ask = (options: Partial<GenerateOptions> = {}): GenerateOptions => ({
  prompt,
  tools: [weather],
  output: null,
  signal: new AbortController().signal,
  retry: fast,
  ...options,
});

describe.each(['responses', 'chat'] as const)('a model over HTTP (%s)', (api) => {
  it('W0: gives text, tool calls, finish and usage', async () => {
    const call = { id: 'call_a', tool: 'weather', args: '{"city":"Bern"}' };
    const served = await serve({
      text: 'I look.',
      calls: [call, { ...call, id: 'call_b' }],
      usage: { input: 31, output: 7 },
    });
    const generation = await generate(served[api], ask());
    expect(generation).toMatchObject({
      text: 'I look.',
      finish: 'tool-calls',
      usage: { inputTokens: 31, outputTokens: 7 },
    });
    expect(generation.calls).toEqual([
      { id: 'call_a', tool: 'weather', args: { city: 'Bern' }, problem: null },
      { id: 'call_b', tool: 'weather', args: { city: 'Bern' }, problem: null },
    ]);
    expect(JSON.stringify(served.server.requests[0]?.body['tools'])).toContain('The weather of a city.');
    expect(JSON.parse(canonicalJson(generation))).toEqual(generation);
  });

  it('W0: takes answers and results back in the next prompt', async () => {
    const served = await serve(
      { calls: [{ id: 'call_a', tool: 'weather', args: '{"city":"Bern"}' }] },
      { text: 'Rain.' },
    );
    const first = await generate(served[api], ask());
    const result = { callId: 'call_a', tool: 'weather', outcome: 'ok', value: { sky: 'rain' } } as const;
    const next = [...prompt, assistantMessage(first), toolMessage([result], first)];
    const second = await generate(served[api], ask({ prompt: next }));
    expect(second).toMatchObject({ text: 'Rain.', finish: 'stop', calls: [] });
    const sent = JSON.stringify(served.server.requests[1]?.body);
    expect(sent).toContain('call_a');
    expect(sent).toContain('{\\"sky\\":\\"rain\\"}');
  });

  it('L7: asks for JSON of the given shape, and leaves tools out where there are none', async () => {
    const served = await serve({ text: '{"n":3}' });
    const list = { type: 'array', items: { type: 'object', properties: {} } };
    const output = { type: 'object', properties: { n: { type: 'number' }, list }, required: ['n', 'list'] };
    const generation = await generate(served[api], ask({ tools: [], output }));
    expect(generation.text).toBe('{"n":3}');
    const body = served.server.requests[0]?.body ?? {};
    const closed = { list: { items: { additionalProperties: false } } };
    const schema = expect.objectContaining({ additionalProperties: false, properties: expect.objectContaining({}) });
    const format = (api === 'chat' ? body['response_format'] : (body['text'] as { format: unknown }).format) as {
      schema?: object;
      json_schema?: { schema: object };
    };
    expect(format).toMatchObject({ type: 'json_schema' });
    expect(format.schema ?? format.json_schema?.schema).toEqual(schema);
    expect(format.schema ?? format.json_schema?.schema).toMatchObject({ properties: closed });
    expect(body).not.toHaveProperty('tools');
  });

  it.each([429, 500, 503])('W6: asks again after a passing error (%i)', async (status) => {
    const served = await serve({ status }, { status }, { text: 'ok' });
    expect((await generate(served[api], ask())).text).toBe('ok');
    expect(served.server.requests).toHaveLength(3);
  });

  it('W6: gives up after three attempts, with the error of the last', async () => {
    const served = await serve(
      { status: 500, text: 'one' },
      { status: 500, text: 'two' },
      { status: 500, text: 'three' },
    );
    await expect(generate(served[api], ask())).rejects.toThrow('three');
    expect(served.server.requests).toHaveLength(3);
  });

  it.each([400, 401, 404])('W6: does not ask again after a final error (%i)', async (status) => {
    const served = await serve({ status, text: 'no such thing' });
    const error = await generate(served[api], ask()).catch((e: unknown) => e);
    expect(APICallError.isInstance(error)).toBe(true);
    expect(String(error)).toContain('no such thing');
    expect(served.server.requests).toHaveLength(1);
  });
});

describe('waiting for a model', () => {
  it('W6: waits as long as the server asks', async () => {
    const headers = { 'retry-after-ms': '300' };
    const served = await serve({ status: 429, headers }, { text: 'ok' });
    await generate(served.responses, ask());
    const [first, second] = served.server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(280);
  });

  it('W6: takes retry-after in seconds and as a date', async () => {
    const served = await serve(
      { status: 429, headers: { 'retry-after': '0.2' } },
      { status: 429, headers: { 'retry-after': new Date(Date.now() + 1000).toUTCString() } },
      { text: 'ok' },
    );
    await generate(served.responses, ask({ retry: { initialIntervalMs: 30_000 } }));
    const [first, second] = served.server.requests;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(180);
  });

  it('W6: waits longer each time otherwise', async () => {
    const served = await serve({ status: 500 }, { status: 500 }, { text: 'ok' });
    await generate(served.responses, ask({ retry: { initialIntervalMs: 100 } }));
    const at = served.server.requests.map((request) => request.at);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThan(90);
    expect((at[2] ?? 0) - (at[1] ?? 0)).toBeGreaterThan(190);
  });

  it.each(['hang', 'backoff'])('W0: an abort ends it at once, with the reason of the abort (%s)', async (where) => {
    const served = await serve(where === 'hang' ? { hang: true } : { status: 500 });
    const controller = new AbortController();
    const reason = new Error('cancelled by a person');
    setTimeout(() => controller.abort(reason), 150);
    const start = performance.now();
    const asked = generate(served.responses, ask({ signal: controller.signal, retry: { initialIntervalMs: 10_000 } }));
    await expect(asked).rejects.toBe(reason);
    expect(performance.now() - start).toBeLessThan(1500);
    expect(served.server.requests).toHaveLength(1);
  });

  it('W0: an aborted signal asks nothing', async () => {
    const served = await serve({ text: 'never' });
    const reason = new Error('over');
    await expect(generate(served.chat, ask({ signal: AbortSignal.abort(reason) }))).rejects.toBe(reason);
    expect(served.server.requests).toHaveLength(0);
  });

  it('W6: a server that is not there is a passing error', async () => {
    const served = await serve({ text: 'never' });
    await served.server.close();
    const start = performance.now();
    await expect(generate(served.chat, ask({ retry: { initialIntervalMs: 100 } }))).rejects.toThrow(/connect/i);
    expect(performance.now() - start).toBeGreaterThan(290);
  });
});

describe('what a model writes', () => {
  it.each([
    ['{"city": ', '{"city": ', /not JSON/],
    ['["Bern"]', ['Bern'], /not an array/],
    ['null', null, /not null/],
    ['"Bern"', 'Bern', /not a string/],
    ['{"n":1e999}', '{"n":1e999}', /\$\.n/],
    ['{"s":"\\ud800"}', '{"s":"\\ud800"}', /\$\.s/],
  ])('J5: arguments %s are kept and marked', async (args, kept, problem) => {
    const served = await serve({ calls: [{ tool: 'weather', args }] });
    const generation = await generate(served.chat, ask());
    expect(generation.calls).toEqual([
      { id: 'call_0_0', tool: 'weather', args: kept, problem: expect.stringMatching(problem) },
    ]);
    expect(assistantMessage(generation).content).toEqual([
      expect.objectContaining({ toolCallId: 'call_0_0', input: {} }),
    ]);
    expect(() => canonicalJson(generation)).not.toThrow();
  });

  it('J5: no arguments are an empty object, and keys are ordinary', async () => {
    const args = '{"__proto__":{"a":1},"$x":1,"a.b":"\\u0000"}';
    const served = await serve({
      calls: [
        { tool: 'weather', args: '' },
        { tool: 'weather', args },
      ],
    });
    const [empty, odd] = (await generate(served.chat, ask())).calls;
    expect(empty).toMatchObject({ args: {}, problem: null });
    expect(odd?.problem).toBeNull();
    expect(JSON.stringify(odd?.args)).toBe(args);
  });

  it('W0: ids that are repeated or missing are made unique, and the results find their calls', async () => {
    const call = { id: 'same', tool: 'weather', args: '{}' };
    const served = await serve({ calls: [call, call, call] }, { text: 'ok' });
    const first = await generate(served.chat, ask());
    const ids = first.calls.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    const results = ids.map((callId, i) => ({ callId, tool: 'weather', outcome: 'ok', value: `r${i}` }) as const);
    const message = toolMessage(results.toReversed(), first);
    expect(message.content).toMatchObject(ids.map((toolCallId, i) => ({ toolCallId, output: { value: `r${i}` } })));
    await generate(served.chat, ask({ prompt: [...prompt, assistantMessage(first), message] }));
    const messages = served.server.requests[1]?.body['messages'] as { tool_calls?: { id: string }[] }[];
    expect(messages.flatMap((m) => m.tool_calls ?? []).map(({ id }) => id)).toEqual(ids);
  });

  it('J5: reasoning goes back with its seal', async () => {
    const served = await serve(
      { reasoning: 'Hm.', calls: [{ id: 'call_a', tool: 'weather', args: '{}' }] },
      { text: 'ok' },
    );
    const first = JSON.parse(canonicalJson(await generate(served.responses, ask())));
    const result = { callId: 'call_a', tool: 'weather', outcome: 'error', value: 'no such city' } as const;
    await generate(
      served.responses,
      ask({ prompt: [...prompt, assistantMessage(first), toolMessage([result], first)] }),
    );
    const input = served.server.requests[1]?.body['input'] as Record<string, unknown>[];
    expect(JSON.stringify(input)).toContain('rs_0');
    expect(input.find((item) => item['type'] === 'function_call_output')).toMatchObject({
      call_id: 'call_a',
      output: expect.stringContaining('no such city'),
    });
  });
});
