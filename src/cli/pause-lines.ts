import type { Pause } from '../client/pauses.ts';
import { harmless, shortened, styled, when } from './terminal.ts';

const ARGS_LENGTH = 2_000;

/** An open pause for people: what is asked, and what to type. */
export function pauseLines({ session, pause, kind, tool, args, why, at, commands }: Pause): string[] {
  const what = tool === null ? kind : `${kind} of ${tool}`;
  return [
    `${styled('yellow', pause)}  ${what}, session ${session}, since ${when(at)}`,
    ...(why === null ? [] : [`  why   ${harmless(why)}`]),
    ...(args === null ? [] : [`  args  ${harmless(shortened(JSON.stringify(args), ARGS_LENGTH))}`]),
    ...Object.values(commands).map(({ apomesh }) => `  ${styled('dim', '$')} ${harmless(apomesh)}`),
  ];
}
