import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/sdk/types.js';
import type { McpServerDefinition } from '../agent/mcp.ts';
import { ToolOutcomeUnknownError } from '../contract/errors.ts';
import type { Json } from '../session/json.ts';

/** Where a call's effect key stands in the request's `_meta`, for servers that honour idempotency keys. */
const KEY_META = 'apomesh/key';

/** The end of what a child process wrote to its standard error, for messages. */
const STDERR_TAIL = 2000;

/** Failures of a request that never left this machine, by the code of the socket's error. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The longest timer there is: this side keeps the time itself, so that its own time-out can be told from an answer. */
const NO_TIMEOUT = 2 ** 31 - 1;

interface Opened {
  readonly client: Client;
  readonly transport: Transport;
  /** Calls under way. */
  calls: number;
  /** The server has forgotten the session; closed once its last call is over. */
  lost: boolean;
}

export interface McpCall {
  readonly tool: string;
  readonly args: Json;
  readonly key: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** The one connection to an MCP server: opened at first use, and again at the next use after it was lost. */
export class McpConnection {
  readonly #server: string;
  readonly #definition: McpServerDefinition;
  readonly #connectTimeoutMs: number;
  #opened: Promise<Opened> | null = null;
  #closed = false;

  constructor(server: string, definition: McpServerDefinition, connectTimeoutMs: number) {
    this.#server = server;
    this.#definition = definition;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** All tools of the server, page by page. */
  async list(): Promise<ListedTool[]> {
    const { client } = await this.#open();
    const tools: ListedTool[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: this.#connectTimeoutMs });
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor !== undefined && seen.has(cursor)) throw new Error(`it lists its tools in a circle, at ${cursor}`);
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return tools;
  }

  /** @throws {ToolOutcomeUnknownError} where the request went out and no answer came back. */
  async call(call: McpCall): Promise<CallToolResult> {
    call.signal.throwIfAborted();
    const local = new AbortController();
    const onAbort = () => local.abort(call.signal.reason);
    call.signal.addEventListener('abort', onAbort, { once: true });
    const late = () =>
      local.abort(new Error(`the MCP server ${this.#server} did not answer within ${call.timeoutMs} ms.`));
    const timer = setTimeout(late, call.timeoutMs);
    try {
      return await this.#request(call, local.signal).catch((error: unknown) => {
        // A server that does not know the session any more has not run anything.
        if (isSessionGone(error)) return this.#request(call, local.signal);
        throw error;
      });
    } finally {
      clearTimeout(timer);
      call.signal.removeEventListener('abort', onAbort);
    }
  }

  /** Ends the server that was started, and the connection. Nothing is opened afterwards. */
  async close(): Promise<void> {
    this.#closed = true;
    const opened = await this.#opened?.catch(() => null);
    if (!opened) return;
    if ('terminateSession' in opened.transport && typeof opened.transport.terminateSession === 'function') {
      await opened.transport.terminateSession().catch(() => undefined);
    }
    await opened.client.close();
  }

  async #request(call: McpCall, signal: AbortSignal): Promise<CallToolResult> {
    const opened = await abortable(this.#open(), signal);
    opened.calls++;
    try {
      return await this.#send(opened, call, signal);
    } catch (error) {
      if (isSessionGone(error)) await this.#forget(opened);
      throw error;
    } finally {
      opened.calls--;
      if (opened.lost && opened.calls === 0) opened.client.close().catch(() => undefined);
    }
  }

  async #send({ client }: Opened, call: McpCall, signal: AbortSignal): Promise<CallToolResult> {
    const { CallToolResultSchema, McpError } = await import('@modelcontextprotocol/sdk/types.js');
    const { tool: name, args, key } = call;
    const params = { name, arguments: args as Record<string, unknown>, _meta: { [KEY_META]: key } };
    try {
      const options = { signal, timeout: NO_TIMEOUT };
      return await client.request({ method: 'tools/call', params }, CallToolResultSchema, options);
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      if (signal.aborted) throw this.#unknown(call, 'did not answer in time', signal.reason);
      if (client.transport === undefined) throw this.#unknown(call, 'ended before it answered', error);
      if (error instanceof McpError || isRefusal(error)) throw error;
      throw this.#unknown(call, `gave no usable answer (${whyOf(error)})`, error);
    }
  }

  #unknown(call: McpCall, what: string, cause: unknown): ToolOutcomeUnknownError {
    const message = `the MCP server ${this.#server} ${what}, so it is not known whether ${call.tool} happened.`;
    return new ToolOutcomeUnknownError(message, { cause });
  }

  #open(): Promise<Opened> {
    if (this.#closed) return Promise.reject(new Error(`the tools of the MCP server ${this.#server} are closed.`));
    if (this.#opened !== null) return this.#opened;
    const opening = this.#connect(() => {
      if (this.#opened === opening) this.#opened = null;
    });
    this.#opened = opening;
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = null;
    });
    return opening;
  }

  async #forget(lost: Opened): Promise<void> {
    lost.lost = true;
    const current = this.#opened;
    if (current && (await current.catch(() => null)) === lost && this.#opened === current) this.#opened = null;
  }

  async #connect(onLost: () => void): Promise<Opened> {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { transport, stderr } = await openTransport(this.#definition);
    const client = new Client({ name: 'apomesh', version: '1' });
    client.onclose = onLost;
    try {
      await client.connect(transport, { timeout: this.#connectTimeoutMs });
    } catch (error) {
      await client.close().catch(() => undefined);
      const said = stderr().trim();
      throw new Error(
        `the MCP server ${this.#server} (${addressOf(this.#definition)}) cannot be reached: ${whyOf(error)}` +
          (said ? `; it said: ${said}` : ''),
        { cause: error },
      );
    }
    return { client, transport, calls: 0, lost: false };
  }
}

/** Command or address of a server, without arguments, query and headers: those may hold secrets. */
function addressOf(definition: McpServerDefinition): string {
  if ('command' in definition) return definition.command;
  const { origin, pathname } = new URL(definition.url);
  return origin + pathname;
}

async function openTransport(definition: McpServerDefinition): Promise<{ transport: Transport; stderr: () => string }> {
  if ('url' in definition) {
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    const headers = { ...definition.headers };
    const transport = new StreamableHTTPClientTransport(new URL(definition.url), { requestInit: { headers } });
    return { transport: transport as Transport, stderr: () => '' };
  }
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { command, args = [], env, cwd } = definition;
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    stderr: 'pipe',
    ...(env && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk.toString('utf8')).slice(-STDERR_TAIL);
  });
  return { transport, stderr: () => said };
}

/** The HTTP server answered that it did not take the request, or nothing was there to take it. */
function isRefusal(error: unknown): boolean {
  const status = httpStatus(error);
  if (status !== null) return status >= 400 && status < 500;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && NEVER_SENT.has(String(cause.code));
}

const isSessionGone = (error: unknown): boolean => httpStatus(error) === 404;

function httpStatus(error: unknown): number | null {
  if (!(error instanceof Error) || !('code' in error) || error.constructor.name !== 'StreamableHTTPError') return null;
  return typeof error.code === 'number' ? error.code : null;
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** The promise's result, or the signal's reason as soon as it is aborted. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
