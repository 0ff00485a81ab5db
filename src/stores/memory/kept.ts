import { BodyMissingError } from '../../contract/errors.ts';
import type { Auditor } from '../../ports/audit.ts';
import type { BodyRow, CompletedRow, EffectLog, EvidenceRow, StateStore } from '../../ports/store.ts';
import { bodyFault } from '../bodies.ts';
import { byTime } from '../order.ts';

/** What is kept once by its key: of the same key, the first stays. */
export class Kept {
  readonly completed = new Map<string, CompletedRow>();
  readonly #bodies = new Map<string, BodyRow>();
  readonly #evidence = new Map<string, EvidenceRow>();
  readonly #evidenceOf = new Map<string, EvidenceRow[]>();
  /** Rows whose text was seen to fit its digest; none can change. */
  readonly #verified = new WeakSet<BodyRow>();

  put(row: BodyRow | EvidenceRow | CompletedRow): void {
    if (row.into === 'effects') this.#putEvidence(row);
    else if (row.into === 'completed') keep(this.completed, row.session, { ...row });
    else keep(this.#bodies, bodyKey(row.session, row.into, row.ref.digest), { ...row, ref: { ...row.ref } });
  }

  #putEvidence(row: EvidenceRow): void {
    if (this.#evidence.has(row.id)) return;
    const copy = Object.freeze({ ...row });
    this.#evidence.set(row.id, copy);
    const rows = this.#evidenceOf.get(row.session);
    if (rows === undefined) this.#evidenceOf.set(row.session, [copy]);
    else rows.push(copy);
  }

  load: StateStore['load'] = async (session, table, refs) =>
    refs.map((ref) => {
      const row = this.#bodies.get(bodyKey(session, table, ref.digest));
      const known = row !== undefined && row.ref.bytes === ref.bytes && this.#verified.has(row);
      const fault = known ? null : bodyFault(row?.json, ref);
      if (row === undefined || fault !== null)
        throw new BodyMissingError(session, table, ref.digest, fault ?? 'missing');
      this.#verified.add(row);
      return row.json;
    });

  bodyFaults: Auditor['bodyFaults'] = async (session, table, refs) =>
    refs.map((ref) => bodyFault(this.#bodies.get(bodyKey(session, table, ref.digest))?.json, ref));

  evidence: EffectLog['evidence'] = async (session, key) => {
    const rows = this.#evidenceOf.get(session) ?? [];
    return rows.filter((row) => key === undefined || row.key === key).sort(byTime);
  };
}

const bodyKey = (session: string, table: string, digest: string): string => `${table}/${session}/${digest}`;

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  if (!map.has(key)) map.set(key, value);
}
