import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

/** Text in a style where standard output is a terminal that takes it (NO_COLOR is honoured). */
export const styled = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

/** Writes a line to standard output, no faster than it is read. */
export async function line(text = ''): Promise<void> {
  if (process.stdout.write(`${text}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once('drain', resolve));
}

/** Writes one JSON value on a line of its own. */
export const jsonLine = (value: unknown): Promise<void> => line(JSON.stringify(value));

/** Writes a line to standard error: about the work, not of it. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** A reader that has gone (`| head`) is no error: nothing more is to be said. */
export function bearWithClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      throw error;
    });
  }
}

/** Resolves when all that was written has left the process. */
export async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()));
  }
}

/** Rows as columns of equal width, two spaces apart, the last one as long as it is. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
  }
  return rows.map((row) =>
    row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  '),
  );
}

/** At most `length` characters on one line. */
export function shortened(text: string, length: number): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  const characters = [...flat];
  return characters.length <= length ? flat : `${characters.slice(0, length - 1).join('')}…`;
}

/** Without what would steer a terminal; new lines and tabs stay. */
export const harmless = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]/gu, (c) => (c === '\n' || c === '\t' ? c : '�'));

/** `2026-11-30 10:00:00` of an ISO stamp, in UTC. */
export const when = (at: string): string => at.slice(0, 19).replace('T', ' ');
