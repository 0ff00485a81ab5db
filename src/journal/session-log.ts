import {
  ClaimTakenError,
  FencedError,
  SessionTerminalError,
  StoreUnknownError,
  StoreUnreachableError,
} from '../contract/errors.ts';
import type { CompletedRow, EventRow, Row, Stores } from '../ports/store.ts';
import { type Envelope, type EventDraft, type EventType, isTerminalPhase, type Writer } from '../session/envelopes.ts';
import { advance, type Fences, isFenced, noFences } from '../session/fences.ts';
import { type AgentTranscript, emptyTranscript, follow, type SessionTranscript } from '../session/transcript.ts';

/** Who appends: an agent's dispatch, or the coordinator (agent null), under its fences (W4). */
export interface Author extends Writer {
  readonly agent: string | null;
}

/** What goes into one append, in the order it must become durable: bodies before the events that point at them (L4). */
export type Entry = Exclude<Row, EventRow | CompletedRow> | Omit<CompletedRow, 'lastSeq' | 'at'> | EventDraft;

const isDraft = (entry: Entry): entry is EventDraft => 'type' in entry;

/** Whether an entry decides who may append after it. */
const movesFences = (entry: Entry): boolean =>
  isDraft(entry) &&
  (entry.type === 'AgentResuming' ||
    entry.type === 'SessionResumed' ||
    (entry.type === 'AgentLifecycle' && isTerminalPhase(entry.data.phase)));

interface Pending {
  readonly author: Author;
  readonly entries: readonly Entry[];
  /** Envelopes in place, by the id of their draft. */
  readonly logged: Map<string, Envelope>;
  /** Its claim, if it has one, is in place. */
  claimed: boolean;
  readonly resolve: (envelopes: Envelope[]) => void;
  readonly reject: (error: unknown) => void;
}

type Work = Pick<Stores, 'write' | 'read'>;

export interface SessionLogOptions {
  readonly now?: () => number;
  /** How long an unknown result or an unreachable store is read back before giving up, in milliseconds. Default 30,000. */
  readonly patienceMs?: number;
}

const FIRST_PAUSE_MS = 50;
const LAST_PAUSE_MS = 2_000;

/**
 * The one appender and reader of a session's log in this process (L6). It writes at `lastSeen + 1` and only after having
 * read every envelope before; appends asked for while a write is under way go out together in the next one. A taken
 * place or an unknown result is settled by reading back: what is logged counts, fences are checked again, the rest is
 * renumbered.
 */
export class SessionLog {
  readonly session: string;
  readonly transcript: SessionTranscript = emptyTranscript();
  readonly #stores: Work;
  readonly #fences: Fences;
  readonly #seqs = new Map<string, number>();
  readonly #now: () => number;
  readonly #patienceMs: number;
  readonly #listeners = new Set<(envelope: Envelope) => void>();
  #lastAt = 0;
  #queue: Pending[] = [];
  #pumping: Promise<void> | null = null;

  constructor(session: string, stores: Work, options: SessionLogOptions = {}) {
    this.session = session;
    this.#stores = stores;
    this.#fences = noFences(session);
    this.#now = options.now ?? Date.now;
    this.#patienceMs = options.patienceMs ?? 30_000;
  }

  /** Highest resume on the log. */
  get resumes(): number {
    return this.#fences.resumes;
  }

  /** Whether the root's terminal phase is on the log. */
  get terminal(): boolean {
    return this.#fences.terminal !== null;
  }

  agent(ref: string): AgentTranscript | undefined {
    return this.transcript.agents.get(ref);
  }

  /** Reads what others have logged since. */
  async catchUp(): Promise<void> {
    for (const envelope of await this.#stores.read(this.session, this.transcript.lastSeq + 1)) this.#take(envelope);
  }

  /** Calls back with each envelope as it becomes known, in order, until the returned function is called. */
  subscribe(listener: (envelope: Envelope) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  isFenced(author: Author): boolean {
    return isFenced(this.#fences, author.agent, author);
  }

  /**
   * Appends entries, at least a draft or a claim among them, and gives the envelopes as they are logged, in the order of the
   * drafts. A draft whose id is logged already gives that envelope (L2).
   *
   * @throws {FencedError} a newer writer has taken over; nothing more was written.
   * @throws {SessionTerminalError} the session is over.
   * @throws {ClaimTakenError} another run holds a claim among the entries.
   * @throws {StoreUnreachableError} the store stayed away longer than the patience.
   */
  append(author: Author, entries: readonly Entry[]): Promise<Envelope[]> {
    return new Promise((resolve, reject) => {
      const claimed = !entries.some((entry) => !isDraft(entry) && entry.into === 'dispatches');
      this.#queue.push({ author, entries, logged: new Map(), claimed, resolve, reject });
      this.#pumping ??= this.#pump();
    });
  }

  async #pump(): Promise<void> {
    await null;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        await this.#writeBatch(batch);
      } catch (error) {
        for (const item of batch) item.reject(error);
      }
    }
    this.#pumping = null;
  }

  async #writeBatch(batch: readonly Pending[]): Promise<void> {
    const deadline = this.#now() + this.#patienceMs;
    let pauseMs = FIRST_PAUSE_MS;
    let open = batch;
    for (;;) {
      try {
        open = await this.#admit(open);
        if (open.length === 0) return;
        const { rows, owners } = this.#number(open);
        const written = await this.#stores.write(rows);
        for (const [i, row] of rows.slice(0, written).entries()) this.#settle(row, owners[i]);
        const refused = rows[written];
        if (refused?.into === 'dispatches') {
          owners[written]?.reject(new ClaimTakenError(refused.agent, refused.epoch, refused.slice));
          open = open.filter((item) => item !== owners[written]);
        } else if (refused) {
          await this.catchUp();
        }
      } catch (error) {
        if (!(error instanceof StoreUnknownError || error instanceof StoreUnreachableError)) throw error;
        if (this.#now() >= deadline) throw error;
        pauseMs = await this.#readBack(pauseMs, deadline);
      }
    }
  }

  #settle(row: Row, owner: Pending | undefined): void {
    if (row.into === 'dispatches' && owner) owner.claimed = true;
    if (row.into !== 'events') return;
    this.#take(row.envelope);
    owner?.logged.set(row.envelope.id, row.envelope);
  }

  /** After an unknown result: what is there counts. */
  async #readBack(pauseMs: number, deadline: number): Promise<number> {
    for (let wait = pauseMs; ; wait = Math.min(wait * 2, LAST_PAUSE_MS)) {
      await new Promise((resolve) => setTimeout(resolve, wait));
      try {
        await this.catchUp();
        return Math.min(wait * 2, LAST_PAUSE_MS);
      } catch (error) {
        if (!(error instanceof StoreUnknownError || error instanceof StoreUnreachableError)) throw error;
        if (this.#now() >= deadline) throw error;
      }
    }
  }

  /** Settles what is logged already, refuses what is fenced or too late, and gives the rest. */
  async #admit(items: readonly Pending[]): Promise<Pending[]> {
    const open: Pending[] = [];
    for (const item of items) {
      const missing = await this.#lookUp(item);
      const root = this.transcript.started?.data.root;
      if (missing === 0 && item.claimed)
        item.resolve(item.entries.filter(isDraft).map((entry) => item.logged.get(entry.id) as Envelope));
      else if (this.isFenced(item.author)) item.reject(new FencedError(this.session, item.author.agent));
      else if (this.#fences.terminal !== null)
        item.reject(new SessionTerminalError(this.session, (root && this.agent(root)?.phase) ?? 'over'));
      else open.push(item);
    }
    return open;
  }

  /** How many events of an item are not on the log yet. */
  async #lookUp(item: Pending): Promise<number> {
    const drafts = item.entries.filter(isDraft);
    for (const { id } of drafts) {
      const seq = this.#seqs.get(id);
      if (seq === undefined || item.logged.has(id)) continue;
      const [envelope] = await this.#stores.read(this.session, seq, 1);
      if (envelope) item.logged.set(id, envelope);
    }
    return drafts.filter(({ id }) => !item.logged.has(id)).length;
  }

  #number(items: readonly Pending[]): { rows: Row[]; owners: Pending[] } {
    const rows: Row[] = [];
    const owners: Pending[] = [];
    let seq = this.transcript.lastSeq;
    const at = new Date(Math.max(this.#now(), this.#lastAt)).toISOString();
    for (const item of items) {
      for (const entry of item.entries) {
        if (isDraft(entry) && item.logged.has(entry.id)) continue;
        if (isDraft(entry)) seq += 1;
        rows.push(this.#row(entry, seq, at, item.author));
        owners.push(item);
      }
      // Those after it go out in the next write, once its word on them is known.
      if (item.entries.some(movesFences)) break;
    }
    return { rows, owners };
  }

  #row(entry: Entry, seq: number, at: string, { resume, epoch }: Author): Row {
    if (!isDraft(entry)) return entry.into === 'completed' ? { ...entry, lastSeq: seq, at } : entry;
    const envelope = { v: 1, session: this.session, seq, at, writer: { resume, epoch }, ...entry } as Envelope;
    return { into: 'events', envelope };
  }

  #take(envelope: Envelope): void {
    if (envelope.seq <= this.transcript.lastSeq) return;
    advance(this.#fences, envelope);
    follow(this.transcript, envelope);
    this.#seqs.set(envelope.id, envelope.seq);
    this.#lastAt = Date.parse(envelope.at);
    for (const listener of this.#listeners) listener(envelope);
  }
}

/** A draft of an event, typed by its type. */
export const draft = <T extends EventType>(
  type: T,
  agent: EventDraft<T>['agent'],
  id: string,
  data: EventDraft<T>['data'],
): EventDraft => ({ type, agent, id, data }) as EventDraft;
