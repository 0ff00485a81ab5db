import type { Row, Stores } from '../../ports/store.ts';
import { checkColumns } from '../columns.ts';
import { rebuildCompleted } from '../completed.ts';
import { Kept } from './kept.ts';
import { copyOf, Logs } from './logs.ts';
import { Recoverable } from './recoverable.ts';
import { Registry } from './registry.ts';
import { Configured, SealedTables } from './sealed.ts';

/** The stores in this process's memory, with the same promises but the one to outlive it. What they give is frozen. */
export function memoryStores(): Stores {
  const kept = new Kept();
  const logs = new Logs(kept.completed);
  const registry = new Registry();
  const recoverable = new Recoverable();
  const sealed = new SealedTables();
  const configured = new Configured();

  /** Checks a row, and gives what puts it in place: false where its place is taken. */
  const placing = (row: Row): (() => boolean) => {
    checkColumns(row);
    if (row.into === 'events') {
      const copy = copyOf(row.envelope);
      return () => logs.append(copy);
    }
    if (row.into === 'dispatches') return () => registry.claim(row);
    return () => {
      kept.put(row);
      return true;
    };
  };

  return {
    address: 'memory',
    async write(rows) {
      const taken = rows.map(placing).findIndex((place) => !place());
      return taken < 0 ? rows.length : taken;
    },
    read: logs.read,
    sessions: logs.sessions,
    load: kept.load,
    evidence: kept.evidence,
    pin: (digest) => sealed.pin(digest),
    files: (refs) => sealed.files(refs),
    keep: (rows) => sealed.keep(rows),
    renew: (table, digests) => sealed.renew(table, digests),
    sealed: (table) => sealed.sealed(table),
    sweep: (table, digests, before) => sealed.sweep(table, digests, before),
    publish: (entry) => configured.publish(entry),
    published: (name) => configured.published(name),
    putSkill: (row) => configured.putSkill(row),
    skill: (name) => configured.skill(name),
    skills: () => configured.skills(),
    removeSkill: (name) => configured.removeSkill(name),
    beat: (worker, taskQueue) => registry.beat(worker, taskQueue),
    strike: (worker) => registry.strike(worker),
    workers: () => registry.workers(),
    claims: (session, agent) => registry.claims(session, agent),
    list: (entry) => recoverable.list(entry),
    unlist: (session) => recoverable.unlist(session),
    listed: (session) => recoverable.listed(session),
    allListed: (options) => recoverable.allListed(options),
    unfinished: logs.unfinished,
    rebuildIndexes: () =>
      rebuildCompleted(logs.names(), logs.read, async (row) => void kept.completed.set(row.session, row)),
    async audit(session) {
      const completed = kept.completed.get(session) ?? null;
      const { envelopes, lastSeq, faults } = logs.audit(session);
      return { envelopes, lastSeq, claims: registry.claimsOf(session), completed, faults };
    },
    bodyFaults: kept.bodyFaults,
    async prepare() {},
    async close() {},
  };
}
