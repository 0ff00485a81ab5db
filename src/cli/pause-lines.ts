import type { Pause } from '../client/pauses.ts';
import type { Standstill } from '../client/standstill.ts';
import { standstillLine } from './finding-lines.ts';
import { harmless, shortened, styled, when } from './terminal.ts';

const ARGS_LENGTH = 2_000;

/** An open pause for people: what is asked, and what to type. */
export function pauseLines(
  { session, pause, kind, tool, args, why, at, accepts, commands }: Pause,
  standstill: Standstill | null = null,
): string[] {
  const what = tool === null ? kind : `${kind} of ${tool}`;
  return [
    `${styled('yellow', pause)}  ${what}, session ${session}, since ${when(at)}`,
    ...(why === null ? [] : [`  why   ${harmless(why)}`]),
    ...(args === null ? [] : [`  args  ${harmless(shortened(JSON.stringify(args), ARGS_LENGTH))}`]),
    ...(standstill === null ? [] : [`  ${styled('red', standstillLine(standstill))}; it can be answered then:`]),
    ...Object.values(commands).map(({ apomesh }) => `  ${styled('dim', '$')} ${harmless(apomesh)}`),
    ...accepts.filter((decision) => WITH_REASON.has(decision)).map(reasonLine),
  ];
}

/** Decisions that may say why. */
const WITH_REASON: ReadonlySet<string> = new Set(['reject', 'fail']);

const reasonLine = (decision: string): string => `  ${decision} may be given --reason TEXT, which the agent sees`;
