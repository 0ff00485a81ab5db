import { hash } from 'node:crypto';
import type { WithId } from 'mongodb';
import { LogUnreadableError } from '../../contract/errors.ts';
import { type Envelope, parseEnvelope } from '../../session/envelopes.ts';
import { dataText, envelopeText } from '../envelope-text.ts';
import type { EventDoc } from './collections.ts';

export const eventId = (session: string, id: string): string => `${session}/${id}`;

/** @throws {UnserializableValueError} J5. */
export function eventDoc(envelope: Envelope): EventDoc {
  const { session, seq, id, at, type, agent, v, writer } = envelope;
  const data = dataText(envelope);
  const sum = hash('sha256', envelopeText(envelope, data));
  const _id = eventId(session, id);
  return { _id, session, seq, id, at, type, agent, v, ...(writer !== undefined && { writer }), data, sum };
}

/** Whether a row holds the very same event at the same place. */
export const isSameEvent = (a: EventDoc, b: EventDoc): boolean =>
  a.seq === b.seq && a.sum === b.sum && a.data === b.data;

/**
 * Reads the row at a place, failing closed (L8).
 *
 * @throws {LogUnreadableError} where it is missing, altered or undecodable.
 */
export function readEvent(doc: WithId<EventDoc> | undefined, session: string, seq: number): Envelope {
  if (doc === undefined || doc.seq !== seq) throw new LogUnreadableError(session, seq, 'the row is missing');
  const { v, type, agent, id, at, writer, data } = doc;
  const head = { v, session: doc.session, seq, id, at, type, agent };
  if (v !== 1) return parseEnvelope(head, seq);
  const text = envelopeText(doc, data);
  if (hash('sha256', text) !== doc.sum || doc.session !== session || doc._id !== eventId(session, id)) {
    throw new LogUnreadableError(session, seq, 'the row was altered: it does not fit its checksum');
  }
  return parseEnvelope({ ...head, ...(writer !== undefined && { writer }), data: dataOf(data, session, seq) }, seq);
}

function dataOf(text: string, session: string, seq: number): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LogUnreadableError(session, seq, `its data is not JSON: ${String(error)}`);
  }
}
