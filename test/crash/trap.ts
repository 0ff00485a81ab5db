import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row, Stores } from '../../src/ports/store.ts';
import { isTerminalPhase } from '../../src/session/envelopes.ts';
import type { Moment, Place } from './moments.ts';

/** Hits this process when a session that it holds reaches one of its moments: each once, whichever process comes first. */
export class Trap {
  readonly #folder: string;
  readonly #moments: Moment[];

  constructor(folder: string, moments: readonly Moment[]) {
    this.#folder = folder;
    this.#moments = [...moments];
  }

  readonly reached = (session: string, place: Place, at: number): void => {
    for (const moment of this.#moments) {
      if (moment.session !== session || moment.place !== place || at < moment.from) continue;
      this.#moments.splice(this.#moments.indexOf(moment), 1);
      if (moment.afterMs === 0) this.#hit(moment);
      else setTimeout(() => this.#hit(moment), moment.afterMs);
      return;
    }
  };

  #hit({ session, signal }: Moment): void {
    try {
      writeFileSync(join(this.#folder, `${session}.hit`), `${process.pid}`, { flag: 'wx' });
    } catch {
      return;
    }
    process.kill(process.pid, signal);
  }
}

/** Stores that tell the trap of what is written, and note each event that was acknowledged. */
export function trapped(stores: Stores, trap: Trap, acknowledged: string): Stores {
  const tell = (rows: readonly Row[], when: When) => {
    for (const row of rows) {
      const [stages, at] = placeOf(row);
      const place = stages[when];
      if (place) trap.reached(sessionOf(row), place, at);
    }
  };
  return {
    ...stores,
    write: async (rows) => {
      tell(rows, 'unsent');
      const writing = stores.write(rows);
      tell(rows, 'sent');
      const written = await writing;
      const events = rows.slice(0, written).flatMap((row) => (row.into === 'events' ? [row.envelope] : []));
      appendFileSync(acknowledged, events.map(({ session, seq, id }) => `${session} ${seq} ${id}\n`).join(''));
      tell(rows.slice(0, written), 'acknowledged');
      return written;
    },
  };
}

/** The place of an event that a worker was told is logged. */
export interface Acknowledged {
  readonly session: string;
  readonly seq: number;
  readonly id: string;
}

/** All events that any worker of a folder was told are logged; a worker killed meanwhile may have left half a line. */
export function acknowledgedIn(folder: string): Acknowledged[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.acknowledged'));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1));
  return lines.map((line) => {
    const [session = '', seq, id = ''] = line.split(' ');
    return { session, seq: Number(seq), id };
  });
}

type When = 'unsent' | 'sent' | 'acknowledged';
type Stages = Partial<Record<When, Place>>;

const claim: Stages = { unsent: 'claim unsent', acknowledged: 'claim acknowledged' };
const intent: Stages = { sent: 'intent sent', acknowledged: 'intent acknowledged' };
const outcome: Stages = { unsent: 'outcome unsent', sent: 'outcome sent' };
const snapshot: Stages = { acknowledged: 'snapshot acknowledged' };
const end: Stages = { unsent: 'end unsent', sent: 'end sent', acknowledged: 'end acknowledged' };
const nowhere: [Stages, number] = [{}, 0];

/** What a row is to a session's life, and at which node or slice. */
function placeOf(row: Row): [Stages, number] {
  if (row.into === 'dispatches') return [claim, row.slice];
  if (row.into !== 'events') return nowhere;
  const { type, data } = row.envelope;
  if (type === 'ToolCallStarted') return [intent, Number.parseInt(data.call, 10)];
  if (type === 'ToolCallCompleted' && data.class === 'effect') return [outcome, Number.parseInt(data.call, 10)];
  if (type === 'AgentSnapshot') return [snapshot, data.node];
  if (type === 'AgentLifecycle' && isTerminalPhase(data.phase)) return [end, 0];
  return nowhere;
}

const sessionOf = (row: Row): string =>
  row.into === 'events' ? row.envelope.session : 'session' in row ? row.session : '';
