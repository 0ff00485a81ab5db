import { LogUnreadableError } from '../contract/errors.ts';
import type { RowFault } from '../ports/audit.ts';
import type { Envelope } from '../session/envelopes.ts';

/** Goes over the rows of a log in order of seq, and on after what is wrong. */
export class LogAudit {
  readonly envelopes: Envelope[] = [];
  readonly faults: RowFault[] = [];
  lastSeq = -1;
  readonly #session: string;

  constructor(session: string) {
    this.#session = session;
  }

  /** Takes the next row, or why it cannot be read. */
  add(seq: number, row: Envelope | LogUnreadableError): void {
    const next = this.lastSeq + 1;
    if (seq > next)
      this.#unreadable(next, seq - 1 === next ? 'the row is missing' : `the rows up to seq ${seq - 1} are missing`);
    if (row instanceof LogUnreadableError) this.faults.push({ in: 'events', seq, why: row.message });
    else if (seq < next) this.#unreadable(seq, 'another row has the same place');
    else this.envelopes.push(row);
    this.lastSeq = Math.max(this.lastSeq, seq);
  }

  /** Takes a row that has no place. */
  misplaced(row: string): void {
    this.faults.push({ in: 'events', seq: null, why: `the row ${row} of its log was altered: it has no place` });
  }

  #unreadable(seq: number, why: string): void {
    this.faults.push({ in: 'events', seq, why: new LogUnreadableError(this.#session, seq, why).message });
  }
}
