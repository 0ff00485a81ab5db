import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What an effect leaves in the world: a line of a file that only grows. */
export interface Deed {
  readonly key: string;
  readonly tool: string;
  readonly session: string;
  readonly pid: number;
  readonly at: string;
}

/** The world outside, as all processes see it. */
export class Ledger {
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, 'ledger.ndjson');
  }

  add(deed: Omit<Deed, 'pid' | 'at'>): void {
    const line: Deed = { ...deed, pid: process.pid, at: new Date().toISOString() };
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
  }

  deeds(): Deed[] {
    if (!existsSync(this.#file)) return [];
    const lines = readFileSync(this.#file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Deed);
  }

  has(key: string): boolean {
    return this.deeds().some((deed) => deed.key === key);
  }
}
