import { canonicalJson } from '../session/canonical-json.ts';
import type { Envelope } from '../session/envelopes.ts';

type Head = { readonly [K in Exclude<keyof Envelope, 'data'>]?: unknown };

/**
 * The canonical JSON of an envelope, of which `data` is in canonical JSON already. Columns of any type give a text, so
 * that an altered one shows.
 */
export function envelopeText(head: Head, data: string): string {
  const { agent, at, id, seq, session, type, v } = head;
  const writer = writerText(head.writer);
  return (
    `{"agent":${JSON.stringify(agent)},"at":${JSON.stringify(at)},"data":${data},"id":${JSON.stringify(id)},` +
    `"seq":${JSON.stringify(seq)},"session":${JSON.stringify(session)},"type":${JSON.stringify(type)},` +
    `"v":${JSON.stringify(v)}${writer}}`
  );
}

function writerText(writer: unknown): string {
  if (writer === undefined) return '';
  const { epoch, resume } = (writer ?? {}) as { epoch?: unknown; resume?: unknown };
  return `,"writer":{"epoch":${JSON.stringify(epoch)},"resume":${JSON.stringify(resume)}}`;
}

/**
 * An event's data as canonical JSON.
 *
 * @throws {UnserializableValueError} J5.
 */
export const dataText = (envelope: Envelope): string => canonicalJson(envelope.data);
