import type { WorkerEntry, WorkerRegistry } from '../../ports/store.ts';
import { byDispatch } from '../order.ts';
import { collection } from './collections.ts';
import type { Mongo } from './connect.ts';
import { claimOf } from './rows.ts';

export function mongoRegistry({ db, attempt }: Mongo): WorkerRegistry {
  const workers = collection(db, 'workers');
  return {
    async beat(worker, taskQueue) {
      const entry = { taskQueue, beatAt: new Date().toISOString(), struck: false };
      await attempt(() => workers.updateOne({ _id: worker }, { $set: entry }, { upsert: true }));
    },
    async strike(worker) {
      await attempt(() => workers.updateOne({ _id: worker }, { $set: { struck: true } }));
    },
    async workers() {
      const docs = await attempt(() => workers.find({}, { sort: { _id: 1 } }).toArray());
      return docs.map(({ _id, ...entry }): WorkerEntry => ({ worker: _id, ...entry }));
    },
    async claims(session, agent) {
      const docs = await attempt(() => collection(db, 'dispatches').find({ session, agent }).toArray());
      return docs.map(claimOf).sort(byDispatch);
    },
  };
}
