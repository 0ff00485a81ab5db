import type { BodyTable, Stores } from '../../src/ports/store.ts';
import { bodyOf } from '../../src/session/digest.ts';
import type { BodyRef, Envelope } from '../../src/session/envelopes.ts';

/** Puts envelopes on a log, as they are. */
export async function writeLog(stores: Stores, envelopes: readonly Envelope[]): Promise<void> {
  const rows = envelopes.map((envelope) => ({ into: 'events', envelope }) as const);
  const written = await stores.write(rows);
  if (written < rows.length) throw new Error(`only ${written} of ${rows.length} rows were written`);
}

/** Keeps a value as a body, and gives its reference. */
export async function writeBody(stores: Stores, session: string, into: BodyTable, value: unknown): Promise<BodyRef> {
  const body = bodyOf(value);
  await stores.write([{ into, session, ...body }]);
  return body.ref;
}
