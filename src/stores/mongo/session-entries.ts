import type { RowFault } from '../../ports/audit.ts';
import type { Envelope } from '../../session/envelopes.ts';
import { collection, type SessionDoc } from './collections.ts';
import type { Mongo } from './connect.ts';
import { eventId } from './events.ts';
import { sessionDoc } from './rows.ts';

const COLUMNS = ['_id', 'session', 'at', 'event'] as const satisfies readonly (keyof SessionDoc)[];

/**
 * What is wrong with the entries that a session is listed by. It has several where starts of it lost.
 *
 * @param first its first event, or null where that cannot be read.
 */
export async function entryFaults(mongo: Mongo, session: string, first: Envelope | null): Promise<RowFault[]> {
  const wanted = first === null ? null : sessionDoc({ session, at: first.at, _id: eventId(session, first.id) });
  const entries = await entriesOf(mongo, session, wanted);
  const faults = entries.filter((entry) => !isSound(entry, session, wanted)).map(({ _id }) => altered(String(_id)));
  const isEntered = entries.some(({ _id }) => wanted === null || _id === wanted._id);
  return isEntered ? faults : [...faults, fault('the index of sessions has no entry of it, so that it is not listed')];
}

async function entriesOf({ db, attempt }: Mongo, session: string, wanted: SessionDoc | null): Promise<SessionDoc[]> {
  const all = collection(db, 'sessions');
  const entries = await attempt(() => all.find({ session }).toArray());
  if (wanted === null || entries.some(({ _id }) => _id === wanted._id)) return entries;
  const lost = await attempt(() => all.findOne({ _id: wanted._id }));
  return lost === null ? entries : [...entries, lost];
}

/** Of an entry of a start that lost, all but the time is as in the one that counts. */
function isSound(entry: SessionDoc, session: string, wanted: SessionDoc | null): boolean {
  const event = wanted?.event ?? entry.event;
  const expected = entry._id === wanted?._id ? wanted : { _id: `${session}/${entry.at}`, session, at: entry.at, event };
  return typeof entry.at === 'string' && COLUMNS.every((name) => entry[name] === expected[name]);
}

const altered = (id: string): RowFault => fault(`its entry ${id} in the index of sessions was altered`);
const fault = (why: string): RowFault => ({ in: 'sessions', seq: null, why });
