import { LRUCache } from 'lru-cache';
import { type PinnedAgent, systemPromptOf } from '../src/agent/shape.ts';
import { SessionNotFoundError } from '../src/contract/errors.ts';
import type { AgentRun } from '../src/journal/agent-run.ts';
import { SessionLog } from '../src/journal/session-log.ts';
import { Conversation } from '../src/models/conversation.ts';
import { compose } from '../src/pins/compose.ts';
import type { Stores } from '../src/ports/store.ts';
import { RecentBodies } from './bodies.ts';

/** Logs and pins that are kept at hand, and bytes of conversations. */
const REMEMBERED = 200;
const REMEMBERED_BYTES = 256 * 1024 * 1024;

/** What a worker remembers between its activities, all of it rebuilt from the store when forgotten (W1). */
export class Sessions {
  readonly bodies: RecentBodies;
  readonly #stores: Stores;
  readonly #logs = new LRUCache<string, SessionLog>({ max: REMEMBERED });
  readonly #conversations = new LRUCache<string, Conversation>({ maxSize: REMEMBERED_BYTES });
  readonly #pins = new LRUCache<string, PinnedAgent>({ max: REMEMBERED });

  constructor(stores: Stores) {
    this.#stores = stores;
    this.bodies = new RecentBodies(stores);
  }

  /** A session's log, up to date. @throws {SessionNotFoundError} where it has none. */
  async open(session: string): Promise<SessionLog> {
    const log = this.#logs.get(session) ?? new SessionLog(session, this.#stores);
    await log.catchUp();
    if (log.transcript.started === null) throw new SessionNotFoundError(session);
    this.#logs.set(session, log);
    return log;
  }

  /** What cannot be relied on any more, or is not needed again. */
  forget(session: string): void {
    this.#logs.delete(session);
    for (const agent of this.#conversations.keys())
      if (agent.startsWith(`${session}/`)) this.#conversations.delete(agent);
  }

  /** What the session was started with (P1). @throws {PinCorruptError} {@link SkillNotInBundleError} */
  async pinned(log: SessionLog): Promise<PinnedAgent> {
    const started = log.transcript.started;
    if (started === null) throw new SessionNotFoundError(log.session);
    const { digest } = started.data.pin;
    const known = this.#pins.get(digest);
    if (known) return known;
    const pinned = await compose(this.#stores, started.data);
    this.#pins.set(digest, pinned);
    return pinned;
  }

  /** An agent's conversation, up to date. `known` holds bodies at hand, as {@link Conversation.extend} takes them. */
  async conversation({ log, id, pinned, goal, transcript, bodies }: AgentRun): Promise<Conversation> {
    const { agent } = id;
    const conversation =
      this.#conversations.get(agent) ?? new Conversation(this.bodies, log.session, systemPromptOf(pinned), goal);
    this.#conversations.delete(agent);
    await conversation.extend(transcript.messages, bodies);
    this.#conversations.set(agent, conversation, { size: conversation.bytes + 1 });
    return conversation;
  }
}
