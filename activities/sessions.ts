import { LRUCache } from 'lru-cache';
import type { PinnedAgent } from '../src/agent/shape.ts';
import { SessionNotFoundError } from '../src/contract/errors.ts';
import { SessionLog } from '../src/journal/session-log.ts';
import { Conversation } from '../src/models/conversation.ts';
import { openPin } from '../src/pins/open.ts';
import type { Stores } from '../src/ports/store.ts';

/** What a worker remembers of a session between its activities, all of it rebuilt from the store when forgotten (W1). */
export interface SessionMemory {
  readonly log: SessionLog;
  readonly conversations: Map<string, Conversation>;
}

const REMEMBERED = 200;

/** The sessions a worker has at hand. */
export class Sessions {
  readonly #stores: Stores;
  readonly #memories = new LRUCache<string, SessionMemory>({ max: REMEMBERED });
  readonly #pins = new LRUCache<string, PinnedAgent>({ max: REMEMBERED });

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** A session's memory, up to date with its log. @throws {SessionNotFoundError} where it has none. */
  async open(session: string): Promise<SessionMemory> {
    const memory = this.#memories.get(session) ?? {
      log: new SessionLog(session, this.#stores),
      conversations: new Map<string, Conversation>(),
    };
    await memory.log.catchUp();
    if (memory.log.transcript.started === null) throw new SessionNotFoundError(session);
    this.#memories.set(session, memory);
    return memory;
  }

  forget(session: string): void {
    this.#memories.delete(session);
  }

  /** What the session was started with (P1). @throws {PinCorruptError} */
  async pinned({ log }: SessionMemory): Promise<PinnedAgent> {
    const started = log.transcript.started;
    if (started === null) throw new SessionNotFoundError(log.session);
    const { digest } = started.data.pin;
    const known = this.#pins.get(digest);
    if (known) return known;
    const pinned = openPin(await this.#stores.pin(digest), digest);
    this.#pins.set(digest, pinned);
    return pinned;
  }

  /** An agent's conversation, as far as this worker had it. */
  conversation(memory: SessionMemory, agent: string, pinned: PinnedAgent): Conversation {
    const known = memory.conversations.get(agent);
    if (known) return known;
    const goal = memory.log.transcript.started?.data.goal ?? '';
    const conversation = new Conversation(this.#stores, memory.log.session, pinned.instructions, goal);
    memory.conversations.set(agent, conversation);
    return conversation;
  }
}
