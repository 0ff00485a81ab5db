import { StoreUnknownError, StoreUnreachableError } from '../contract/errors.ts';
import type { Row, Stores } from '../ports/store.ts';
import type { Draws } from './draws.ts';
import type { Fate } from './faults.ts';
import type { Process } from './process.ts';
import type { Turns } from './turns.ts';

/** How late a request can come that nobody waits for any more. */
const LATEST_MS = 15_000;

/** The stores as one process has them: every call waits for its turn, and can go wrong in each way that a database's can. */
export function gatedStores(stores: Stores, process: Process, turns: Turns, draws: Draws): Stores {
  const read =
    <Args extends unknown[], T>(name: string, ask: (...args: Args) => Promise<T>) =>
    (...args: Args): Promise<T> =>
      new Promise((resolve, reject) => {
        const perform = (fate: Fate) => {
          if (fate === 'unreachable') reject(new StoreUnreachableError(stores.address));
          else if (fate === 'go') ask(...args).then(resolve, reject);
          else process.die();
        };
        turns.add({ kind: 'read', label: name, process, perform });
      });

  const write = (rows: readonly Row[]): Promise<number> =>
    new Promise((resolve, reject) => {
      const late = () => turns.later(draws.between(1, LATEST_MS), () => void stores.write(rows).catch(() => undefined));
      const unknown = () => reject(new StoreUnknownError('the answer is lost'));
      const perform = async (fate: Fate): Promise<void> => {
        switch (fate) {
          case 'crash-before':
            return process.die();
          case 'crash-late':
            process.die();
            return void late();
          case 'crash-after':
            await stores.write(rows).catch(() => undefined);
            return process.die();
          case 'lost-none':
            return unknown();
          case 'lost-late':
            late();
            return unknown();
          case 'lost-some':
          case 'lost-all': {
            const some = fate === 'lost-all' ? rows.length : draws.between(0, rows.length - 1);
            await stores.write(rows.slice(0, some)).catch(() => undefined);
            return unknown();
          }
          case 'answer-late': {
            const written = await stores.write(rows);
            turns.clock.set(() => resolve(written), draws.between(1, LATEST_MS));
            return;
          }
          case 'unreachable':
            return reject(new StoreUnreachableError(stores.address));
          default:
            return void stores.write(rows).then(resolve, reject);
        }
      };
      turns.add({ kind: 'write', label: `writes ${rows.map(nameOf).join(', ')}`, process, perform });
    });

  return {
    ...stores,
    write,
    read: read('reads the log', stores.read),
    load: read('loads bodies', stores.load),
    pin: read('loads the pin', stores.pin),
    evidence: read('reads evidence', stores.evidence),
    beat: read('beats', stores.beat),
    strike: read('strikes a worker', stores.strike),
    claims: read('reads claims', stores.claims),
    workers: read('reads workers', stores.workers),
  };
}

function nameOf(row: Row): string {
  if (row.into === 'events') {
    const { seq, type, id } = row.envelope;
    return `${seq} ${type} ${id}`;
  }
  return row.into === 'dispatches' ? `claim ${row.resume}.${row.epoch}.${row.slice}` : row.into;
}
