import type { ToolOptions } from './tool.ts';

/** What a config says of an MCP server beside how to reach it. */
export interface McpServerOptions {
  /**
   * Whether the server's own `readOnlyHint` and `idempotentHint` count. Default false: every tool of the server is an
   * `effect` until the config says otherwise (E1).
   */
  readonly trust?: boolean;
  /** Class of single tools, by the server's own names. Goes before a trusted hint. */
  readonly effects?: Readonly<Record<string, 'read' | 'effect'>>;
  /** How single tools are offered and run, by the server's own names. */
  readonly tools?: Readonly<Record<string, ToolOptions>>;
  /** Put before the name of every tool, so that two servers can offer the same one. Default none. */
  readonly prefix?: string;
  /** Longest time to start the server and list its tools. Default 30 seconds. */
  readonly connectTimeout?: ToolOptions['timeout'];
}

/** A server that is started as a child process and spoken to over its standard input and output. */
export interface McpStdioServer extends McpServerOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to HOME, LOGNAME, PATH, SHELL, TERM and USER; nothing else of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that runs elsewhere, over streamable HTTP. */
export interface McpHttpServer extends McpServerOptions {
  readonly url: string | URL;
  readonly headers?: Readonly<Record<string, string>>;
}

export type McpServerDefinition = McpStdioServer | McpHttpServer;
