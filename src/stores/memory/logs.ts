import { LogUnreadableError } from '../../contract/errors.ts';
import type { CompletedRow, EventLog, RecoveryIndex, SessionEntry, SessionPage } from '../../ports/store.ts';
import type { Envelope } from '../../session/envelopes.ts';
import { dataText, envelopeText } from '../envelope-text.ts';
import { LogAudit } from '../log-audit.ts';
import { pageOf } from '../order.ts';

/** An event on its way in, checked and copied: nobody else can change it. */
export interface Copy {
  readonly envelope: Envelope;
  readonly text: string;
}

/** @throws {UnserializableValueError} J5. */
export function copyOf(envelope: Envelope): Copy {
  const text = envelopeText(envelope, dataText(envelope));
  return { envelope: freeze(JSON.parse(text) as Envelope), text };
}

interface Log {
  /** By seq. A hole is a gap. */
  readonly rows: (Envelope | undefined)[];
  readonly byId: Map<string, Envelope>;
}

/** The logs of all sessions. */
export class Logs {
  readonly #logs = new Map<string, Log>();
  /** The first events, the oldest first. */
  readonly #starts: Envelope[] = [];
  readonly #completed: ReadonlyMap<string, CompletedRow>;

  constructor(completed: ReadonlyMap<string, CompletedRow>) {
    this.#completed = completed;
  }

  /** False where the place is taken by another. */
  append({ envelope, text }: Copy): boolean {
    const { session, seq, id } = envelope;
    const log = this.#logOf(session);
    const there = log.rows[seq] ?? log.byId.get(id);
    if (there !== undefined) return envelopeText(there, dataText(there)) === text;
    log.rows[seq] = envelope;
    log.byId.set(id, envelope);
    if (seq === 0) this.#starts.splice(this.#countUntil(envelope), 0, envelope);
    return true;
  }

  read: EventLog['read'] = async (session, from = 0, limit = Number.POSITIVE_INFINITY) => {
    const rows = this.#logs.get(session)?.rows ?? [];
    const envelopes: Envelope[] = [];
    for (let seq = from; seq < Math.min(rows.length, from + limit); seq++) {
      const envelope = rows[seq];
      if (envelope === undefined) throw new LogUnreadableError(session, seq, 'the row is missing');
      envelopes.push(envelope);
    }
    return envelopes;
  };

  audit(session: string): LogAudit {
    const audit = new LogAudit(session);
    for (const [seq, envelope] of this.#logs.get(session)?.rows.entries() ?? []) if (envelope) audit.add(seq, envelope);
    return audit;
  }

  sessions: EventLog['sessions'] = async ({ limit = 100, before } = {}) => {
    const end = this.#endOf(before);
    const page = this.#starts.slice(Math.max(0, end - Math.max(0, limit)), end).reverse();
    return page.map(({ session, at }): SessionEntry => {
      const record = this.#completed.get(session);
      if (record === undefined) return { session, startedAt: at, completed: null };
      const { phase, reason, lastSeq, at: endedAt } = record;
      return { session, startedAt: at, completed: { phase, reason, lastSeq, at: endedAt } };
    });
  };

  names(): string[] {
    return [...this.#logs.keys()];
  }

  unfinished: RecoveryIndex['unfinished'] = async (page) =>
    pageOf(
      this.names().filter((session) => !this.#completed.has(session)),
      (session) => session,
      page,
    );

  #logOf(session: string): Log {
    let log = this.#logs.get(session);
    if (log === undefined) {
      log = { rows: [], byId: new Map() };
      this.#logs.set(session, log);
    }
    return log;
  }

  /** How many sessions come before a page's first, in order of their start. */
  #endOf(before: SessionPage['before']): number {
    if (before === undefined) return this.#starts.length;
    if (typeof before === 'string') return this.#countUntil({ at: before, session: '' });
    return this.#countUntil({ at: before.startedAt, session: before.session });
  }

  /** How many sessions started before a point, found by halving from the newest. */
  #countUntil(point: Pick<Envelope, 'at' | 'session'>): number {
    let [low, high] = [0, this.#starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#starts[middle] as Envelope, point)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const isBefore = (a: Pick<Envelope, 'at' | 'session'>, b: Pick<Envelope, 'at' | 'session'>): boolean =>
  a.at < b.at || (a.at === b.at && a.session < b.session);

/** Freezes a JSON value, on a stack of its own: nesting may be deep. */
function freeze<T extends object>(root: T): T {
  const stack: object[] = [root];
  for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
    for (const child of Object.values(value)) if (typeof child === 'object' && child !== null) stack.push(child);
    Object.freeze(value);
  }
  return root;
}
