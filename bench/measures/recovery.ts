import type { Workflows } from '../../src/ports/workflows.ts';
import { scan } from '../../src/recovery/scan.ts';
import { type Collections, collection } from '../../src/stores/mongo/collections.ts';
import { type Mongo, openMongo } from '../../src/stores/mongo/connect.ts';
import { eventDoc } from '../../src/stores/mongo/events.ts';
import { completedDoc, sessionDoc } from '../../src/stores/mongo/rows.ts';
import { storesOver } from '../../src/stores/mongo/stores.ts';
import type { Bench } from '../bench.ts';
import { alone, atMost, type Figure } from '../figures.ts';
import { logOf } from '../log.ts';
import { summary } from '../stats.ts';

const EVENTS = 50;
/** One of so many sessions is not over. */
const ONE_OF = 20;
/** Sessions written in one command. */
const AT_ONCE = 20;
/** Sessions read at once, as a scan does. */
const SIDE_BY_SIDE = 8;

/** Temporal's answers, which cost the same whatever is asked of the store: every session is live. */
const workflows: Workflows = {
  namespace: 'default',
  describe: async () => ({ status: 'RUNNING', isOpen: true, runId: '', failedTasks: 0 }),
  start: () => Promise.reject(new Error('nothing is lost here')),
  terminate: () => Promise.reject(new Error('nothing is ended here')),
};

/** A boot scan over many sessions, most of them over (R2), beside a plain read of the same rows. */
export async function measureRecovery(bench: Bench): Promise<Figure[]> {
  const count = bench.quick ? 1_000 : 10_000;
  const name = `${count.toLocaleString('en')} sessions of ${EVENTS} events, ${count / ONE_OF} of them not over`;
  bench.say(`recovery: ${name}`);
  const mongo = openMongo({ uri: bench.mongoUri, database: bench.name('recovery') });
  const stores = storesOver(mongo);
  try {
    await stores.prepare();
    const open = await fill(mongo, count);
    const times = { scan: [] as number[], raw: [] as number[], find: [] as number[] };
    for (let run = 0; run < (bench.quick ? 2 : 5); run++) {
      times.raw.push(await millisecondsOf(() => readRaw(mongo, open)));
      const scanning = async () => {
        const { live } = await scan({ stores, workflows }, { heartbeatTimeoutMs: 10_000 });
        if (live !== open.length) throw new Error(`the scan saw ${live} sessions, not ${open.length}`);
      };
      times.scan.push(await millisecondsOf(scanning));
      times.find.push(await millisecondsOf(() => stores.unfinished({ limit: count })));
    }
    const measure = `boot scan over ${name}`;
    const ratio = summary(times.scan).median / summary(times.raw).median;
    return [
      alone(measure, 'plain read of the same rows', 'ms', times.raw),
      { ...alone(measure, 'scan (ratio: to the plain read)', 'ms', times.scan), ratio, aim: atMost(ratio, 2) },
      alone(measure, 'of it to find those not over', 'ms', times.find),
    ];
  } finally {
    await stores.close();
  }
}

async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Writes the sessions as the stores do, in large commands. Gives those that are not over. */
async function fill(mongo: Mongo, count: number): Promise<string[]> {
  const names = Array.from({ length: count }, (_, i) => `scanned-${String(i).padStart(6, '0')}`);
  const isOpen = (i: number) => i % ONE_OF === 0;
  await mongo.connect();
  for (let from = 0; from < count; from += AT_ONCE) {
    const logs = names.slice(from, from + AT_ONCE).map((name, i) => logOf(name, EVENTS, !isOpen(from + i)));
    const docs = logs.flatMap((log) => log.map(eventDoc));
    const over = logs.filter((_, i) => !isOpen(from + i));
    await insert(mongo, 'events', docs);
    await insert(mongo, 'sessions', docs.filter(({ seq }) => seq === 0).map(sessionDoc));
    await insert(mongo, 'completed', over.map(recordOf));
  }
  return names.filter((_, i) => isOpen(i));
}

const recordOf = (log: ReturnType<typeof logOf>) =>
  completedDoc({
    ...{ into: 'completed', session: log[0]?.session ?? '', phase: 'completed', reason: null, lastSeq: EVENTS - 1 },
    at: log.at(-1)?.at ?? '',
  });

async function insert<Name extends 'events' | 'sessions' | 'completed'>(
  { db }: Mongo,
  name: Name,
  docs: readonly Collections[Name][],
): Promise<void> {
  await db.collection(name).insertMany(docs as never, { ordered: false, writeConcern: { w: 1 } });
}

/** The rows that a scan needs, by the driver alone: an index entry of each session, and the events of those not over. */
async function readRaw({ db }: Mongo, open: readonly string[]): Promise<void> {
  const batchSize = 20_000;
  await collection(db, 'sessions')
    .find({}, { sort: { session: 1 }, projection: { _id: 0, session: 1, event: 1 }, batchSize })
    .toArray();
  await collection(db, 'completed')
    .find({}, { projection: { _id: 1 }, batchSize })
    .toArray();
  const events = collection(db, 'events');
  for (let i = 0; i < open.length; i += SIDE_BY_SIDE) {
    const some = open.slice(i, i + SIDE_BY_SIDE);
    await Promise.all(some.map((session) => events.find({ session }, { sort: { seq: 1 } }).toArray()));
  }
}
