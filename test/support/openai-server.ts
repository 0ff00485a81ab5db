import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface OpenAiRequest {
  /** `/v1/responses` or `/v1/chat/completions`. */
  readonly path: string;
  readonly at: number;
  readonly body: Record<string, unknown>;
  /** The body as it came. */
  readonly raw: string;
}

/** What the server answers: a generation, a refusal by HTTP status, or nothing at all. */
export interface OpenAiReply {
  readonly text?: string;
  readonly calls?: readonly { readonly id?: string; readonly tool: string; readonly args: string }[];
  /** A summary of reasoning, with the encrypted form that the client has to send back. */
  readonly reasoning?: string;
  readonly usage?: { readonly input: number; readonly output: number };
  readonly finish?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly delayMs?: number;
  /** Never answers. */
  readonly hang?: boolean;
}

export interface OpenAiServer {
  readonly baseURL: string;
  readonly requests: readonly OpenAiRequest[];
  close(): Promise<void>;
}

/** A server that speaks enough of OpenAI's HTTP API for `@ai-sdk/openai`, answering by a script. */
export async function startOpenAi(
  script: (request: OpenAiRequest, n: number) => OpenAiReply | Promise<OpenAiReply>,
): Promise<OpenAiServer> {
  const requests: OpenAiRequest[] = [];
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => send(response, 500, {}, errorBody(String(error))));
  });

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks).toString('utf8');
    const body = JSON.parse(raw) as Record<string, unknown>;
    const asked = { path: request.url ?? '', at: performance.now(), body, raw };
    requests.push(asked);
    const reply = await script(asked, requests.length - 1);
    if (reply.hang) return;
    if (reply.delayMs) await sleep(reply.delayMs);
    const headers = reply.headers ?? {};
    if (reply.status) return send(response, reply.status, headers, errorBody(reply.text ?? `status ${reply.status}`));
    const format = asked.path.endsWith('/responses') ? responsesBody : chatBody;
    send(response, 200, headers, format(reply, requests.length - 1));
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

const errorBody = (message: string) => ({ error: { message, type: 'test', param: null, code: null } });

function responsesBody(
  { text, calls = [], reasoning, usage = { input: 10, output: 5 } }: OpenAiReply,
  n: number,
): unknown {
  const output: unknown[] = [];
  if (reasoning !== undefined) {
    const summary = [{ type: 'summary_text', text: reasoning }];
    output.push({ type: 'reasoning', id: `rs_${n}`, encrypted_content: `sealed-${n}`, summary });
  }
  if (text !== undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    output.push({ type: 'message', role: 'assistant', id: `msg_${n}`, status: 'completed', content });
  }
  for (const [i, call] of calls.entries()) {
    const id = call.id ?? `call_${n}_${i}`;
    output.push({
      type: 'function_call',
      id: `fc_${n}_${i}`,
      call_id: id,
      name: call.tool,
      arguments: call.args,
      status: 'completed',
    });
  }
  return {
    id: `resp_${n}`,
    object: 'response',
    created_at: 1_790_000_000,
    model: 'gpt-test',
    status: 'completed',
    output,
    usage: { input_tokens: usage.input, output_tokens: usage.output, total_tokens: usage.input + usage.output },
  };
}

function chatBody({ text, calls = [], usage = { input: 10, output: 5 }, finish }: OpenAiReply, n: number): unknown {
  const toolCalls = calls.map((call, i) => ({
    id: call.id ?? `call_${n}_${i}`,
    type: 'function',
    function: { name: call.tool, arguments: call.args },
  }));
  return {
    id: `chatcmpl-${n}`,
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-test',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text ?? null, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) },
        finish_reason: finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop'),
      },
    ],
    usage: { prompt_tokens: usage.input, completion_tokens: usage.output, total_tokens: usage.input + usage.output },
  };
}
