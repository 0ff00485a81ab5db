import type { ClaimRow, WorkerEntry, WorkerRegistry } from '../../ports/store.ts';
import { byDispatch } from '../order.ts';

/** Workers and claims. */
export class Registry implements WorkerRegistry {
  readonly #workers = new Map<string, WorkerEntry>();
  /** By agent, then by dispatch and slice. */
  readonly #claims = new Map<string, Map<string, ClaimRow>>();

  /** False where another has claimed the slice. */
  claim(row: ClaimRow): boolean {
    const claims = this.#claimsOf(row.agent);
    const key = `${row.resume}.${row.epoch}.${row.slice}`;
    const there = claims.get(key);
    if (there !== undefined) return there.claimant === row.claimant;
    claims.set(key, Object.freeze({ ...row }));
    return true;
  }

  async beat(worker: string, taskQueue: string): Promise<void> {
    this.#workers.set(worker, { worker, taskQueue, beatAt: new Date().toISOString(), struck: false });
  }

  async strike(worker: string): Promise<void> {
    const entry = this.#workers.get(worker);
    if (entry !== undefined) this.#workers.set(worker, { ...entry, struck: true });
  }

  async workers(): Promise<WorkerEntry[]> {
    return [...this.#workers.values()].map((entry) => ({ ...entry })).sort((a, b) => (a.worker < b.worker ? -1 : 1));
  }

  async claims(session: string, agent: string): Promise<ClaimRow[]> {
    const rows = [...(this.#claims.get(agent)?.values() ?? [])];
    return rows.filter((row) => row.session === session).sort(byDispatch);
  }

  /** All claims of a session. */
  claimsOf(session: string): ClaimRow[] {
    const all = [...this.#claims.values()].flatMap((claims) => [...claims.values()]);
    return all.filter((row) => row.session === session).sort(byDispatch);
  }

  #claimsOf(agent: string): Map<string, ClaimRow> {
    let claims = this.#claims.get(agent);
    if (claims === undefined) {
      claims = new Map();
      this.#claims.set(agent, claims);
    }
    return claims;
  }
}
