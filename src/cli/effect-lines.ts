import type { Effect, EffectRecord } from '../client/effects.ts';
import type { Json } from '../session/json.ts';
import { columns, harmless, shortened, styled, when } from './terminal.ts';

const BODY_LENGTH = 2_000;
const KEY_LENGTH = 'sha256:'.length + 8;

/** Effects as rows for people: seq, tool, what became of it, its key shortened, and how often it was begun. */
export const effectRows = (effects: readonly Effect[]): string[] =>
  columns(
    effects.map(({ seq, tool, key, begun, ...effect }) => [
      String(seq),
      harmless(tool),
      became(effect),
      key.slice(0, KEY_LENGTH),
      begun > 1 ? `begun ${begun} times` : '',
    ]),
  ).map((row) => row.trimEnd());

/** Effects for people, with what they were asked and what they gave. */
export function effectLines(records: readonly EffectRecord[]): string[] {
  const rows = effectRows(records);
  return records.flatMap(({ agent, call, at, args, result, outcome, inDoubt, late }, i) => [
    ...(i > 0 ? [''] : []),
    styled('bold', rows[i] ?? ''),
    `  call    ${harmless(call)} of ${harmless(agent)}, ${when(at)}`,
    `  args    ${body(args)}`,
    ...(outcome === null ? [] : [`  result  ${body(result)}`]),
    ...(inDoubt === null ? [] : [`  pause   ${inDoubt}`]),
    ...late.map(
      (one) => `  late    ${one.outcome}, ${when(one.at)}, not served: ${body(one.result)} (dispatch ${one.epoch + 1})`,
    ),
  ]);
}

const became = ({ outcome, inDoubt }: Pick<Effect, 'outcome' | 'inDoubt'>): string =>
  outcome ?? (inDoubt === null ? 'no outcome' : 'in doubt');

const body = (json: Json): string => harmless(shortened(JSON.stringify(json), BODY_LENGTH));
