import type { Standstill } from '../client/standstill.ts';
import { columns, harmless, styled } from './terminal.ts';

interface Row {
  readonly session: string;
  readonly class: string;
  readonly why: string;
}

/** Sessions with their class and why, for people; none for none. */
export function findingLines(rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const [head = '', ...lines] = columns([
    ['SESSION', 'CLASS', 'WHY'],
    ...rows.map((row) => [row.session, row.class, harmless(row.why)]),
  ]);
  return [styled('dim', head), ...lines];
}

/** Why a session does not go on by itself, and what to do, on one line. */
export const standstillLine = ({ class: found, why, advice }: Standstill): string =>
  harmless(`${found === null ? 'has stopped' : `waits for an operator (${found})`}: ${why}; ${advice}`);
