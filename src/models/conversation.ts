import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { StoredGeneration } from '../agent/generation.ts';
import type { StateStore } from '../ports/store.ts';
import type { Json } from '../session/json.ts';
import type { MessageRef } from '../session/transcript.ts';
import { assistantMessage, systemMessage, toolMessage, userMessage } from './prompt.ts';

type ResultRef = Extract<MessageRef, { of: 'result' }>;

/** Bodies in one read: bounds the memory that a long conversation takes while it is loaded. */
const LOAD_AT_ONCE = 500;

/**
 * An agent's conversation as a model's prompt, extended by what the log added since: work in proportion to what is new,
 * not to its length.
 */
export class Conversation {
  readonly prompt: LanguageModelV4Message[];
  readonly #store: Pick<StateStore, 'load'>;
  readonly #session: string;
  readonly #asked = new Map<string, number>();
  readonly #results = new Map<string, { ref: ResultRef; value: Json }>();
  #current: StoredGeneration | null = null;
  #reached = 0;
  #bytes = 0;

  constructor(store: Pick<StateStore, 'load'>, session: string, instructions: string, goal: string) {
    this.#store = store;
    this.#session = session;
    this.prompt = [systemMessage(instructions), userMessage(goal)];
  }

  /** Bytes of the messages it holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How often a call was asked for so far (E2). `call` names tool and arguments. */
  asked(call: string): number {
    return this.#asked.get(call) ?? 0;
  }

  /**
   * Takes in the messages logged since. `known` holds bodies this process has at hand, by digest; what is taken from it
   * is removed.
   */
  async extend(messages: readonly MessageRef[], known: Map<string, unknown>): Promise<void> {
    while (this.#reached < messages.length) {
      const next = messages.slice(this.#reached, this.#reached + LOAD_AT_ONCE);
      await this.#load(next, known);
      for (const message of next) this.#take(message, known.get(message.ref.digest));
      for (const message of next) known.delete(message.ref.digest);
      this.#reached += next.length;
    }
    this.#flush();
  }

  async #load(messages: readonly MessageRef[], known: Map<string, unknown>): Promise<void> {
    const refs = messages.map(({ ref }) => ref).filter(({ digest }) => !known.has(digest));
    if (refs.length === 0) return;
    const texts = await this.#store.load(this.#session, 'messages', refs);
    for (const [i, ref] of refs.entries()) known.set(ref.digest, JSON.parse(texts[i] as string));
  }

  #take(message: MessageRef, body: unknown): void {
    this.#bytes += message.ref.bytes;
    if (message.of === 'result') {
      this.#results.set(message.call, { ref: message, value: body as Json });
      return;
    }
    this.#flush();
    this.#current = body as StoredGeneration;
    for (const call of this.#current.calls) {
      const name = callName(call.tool, call.args);
      this.#asked.set(name, this.asked(name) + 1);
    }
  }

  /** Puts the current node into the prompt once all its calls have results. */
  #flush(): void {
    const generation = this.#current;
    if (!generation) return;
    const results = generation.calls.map((call) => ({ call, result: this.#results.get(call.call) }));
    if (results.some(({ result }) => result === undefined)) return;
    this.prompt.push(assistantMessage(generation));
    if (results.length > 0) {
      const entries = results.flatMap(({ call, result }) =>
        result ? [{ callId: call.id, tool: call.tool, outcome: result.ref.outcome, value: result.value }] : [],
      );
      this.prompt.push(toolMessage(entries, generation));
    }
    if (generation.misfit !== null) this.prompt.push(userMessage(generation.misfit));
    this.#current = null;
    this.#results.clear();
  }
}

/** Names "the very same call" (E2): the tool and the digest of its arguments. */
export const callName = (tool: string, args: string): string => `${tool}\n${args}`;
