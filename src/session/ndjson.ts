import { type Envelope, parseEnvelope } from './envelopes.ts';
import { LogUnreadableError } from './error.ts';

/**
 * Reads a log from newline-delimited JSON, one envelope a line from seq 0 on, empty lines skipped.
 *
 * @throws {LogUnreadableError} naming the seq expected, at the first line that is anything else (L8).
 */
export const parseLog = (text: string): Envelope[] => [...readLog(text)];

/** As {@link parseLog}, line by line as asked for: folding it reports the first fault, of whichever kind. */
export function* readLog(text: string): Generator<Envelope, void, undefined> {
  let expected = 0;
  let session: string | null = null;
  for (const line of linesOf(text)) {
    if (line === '') continue;
    const row = parseRow(line, session, expected);
    session ??= typeof row?.['session'] === 'string' ? row['session'] : null;
    if (Number.isSafeInteger(row?.['seq']) && row?.['seq'] !== expected) {
      throw new LogUnreadableError(session, expected, `expected seq ${expected}, found seq ${row?.['seq']}`);
    }
    yield parseEnvelope(row, expected);
    expected += 1;
  }
}

/** A log as newline-delimited JSON, one envelope a line, each line ended. */
export const formatLog = (envelopes: Iterable<Envelope>): string =>
  Array.from(envelopes, (envelope) => `${JSON.stringify(envelope)}\n`).join('');

function parseRow(line: string, session: string | null, expected: number): Record<string, unknown> | null {
  try {
    return JSON.parse(line) as Record<string, unknown> | null;
  } catch (error) {
    throw new LogUnreadableError(session, expected, `the line is not JSON (${(error as Error).message})`);
  }
}

function* linesOf(text: string): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end < 0 ? text.length : end);
    yield line.endsWith('\r') ? line.slice(0, -1) : line;
    start = end < 0 ? text.length : end + 1;
  }
}
