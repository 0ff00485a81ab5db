import type { Client } from '@temporalio/client';
import type { Envelope } from 'apomesh';
import type { Child } from './processes.ts';
import { workerOf } from './worker-of.ts';

/** Shows a session's events as they come: a line a step, with tokens so far and the worker that holds the agent. */
export class Progress {
  readonly #client: Client;
  readonly #session: string;
  readonly #started: readonly Child[];
  #tokens = 0;
  #worker = '';
  #results: string[] = [];

  constructor(client: Client, session: string, started: readonly Child[]) {
    this.#client = client;
    this.#session = session;
    this.#started = started;
  }

  async show(event: Envelope): Promise<void> {
    const time = event.at.slice(11, 19);
    switch (event.type) {
      case 'GenerationCompleted': {
        this.#tokens += (event.data.usage.inputTokens ?? 0) + (event.data.usage.outputTokens ?? 0);
        this.#worker = (await workerOf(this.#client, this.#session, this.#started))?.name ?? this.#worker;
        this.#results = [];
        console.log(`${time}  step ${event.data.node} on ${this.#worker || '…'}, ${this.#tokens} tokens`);
        break;
      }
      case 'ToolCallCompleted':
        this.#results.push(`${event.data.tool} ${event.data.outcome}`);
        break;
      case 'AgentSnapshot':
        if (this.#results.length > 0) console.log(`          ${summary(this.#results)}`);
        break;
      case 'AgentResuming':
        console.log(`${time}  AgentResuming: dispatch ${event.data.epoch + 1}, from snapshot ${event.data.snapshot}`);
        break;
      case 'AgentResumed':
        console.log(`${time}  AgentResumed`);
        break;
      case 'PauseRaised':
        console.log(`${time}  waits for a person: apomesh pauses ${this.#session}`);
        break;
      case 'AgentLifecycle':
        console.log(`${time}  ${event.agent} ${event.data.phase}`);
        break;
      default:
    }
  }
}

/** `read_text_file ok` four times is `read_text_file ok ×4`. */
function summary(results: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const result of results) counts.set(result, (counts.get(result) ?? 0) + 1);
  return [...counts].map(([result, times]) => (times === 1 ? result : `${result} ×${times}`)).join(', ');
}
