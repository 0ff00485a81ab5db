import type { Answer } from './session.ts';

type Kind = 'name' | 'text' | 'json';

const KINDS = {
  pause: 'name',
  decision: 'name',
  by: 'text',
  reason: 'text',
  args: 'json',
  text: 'text',
  result: 'json',
} as const satisfies Record<keyof Answer, Kind>;

/**
 * What is wrong with the form of an answer, whoever sent it, or null. Written by hand, as every session's workflow loads
 * it: a schema library there would cost more than all else the workflow does.
 */
export function answerFault(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'it is no object';
  const given = answer as Readonly<Record<string, unknown>>;
  const extra = Object.keys(given).filter((name) => !Object.hasOwn(KINDS, name));
  const faults = Object.entries(KINDS).flatMap(([name, kind]) =>
    faultOf(kind, given[name]).map((why) => `${name} ${why}`),
  );
  return [...faults, ...extra.map((name) => `${name} is no field of an answer`)].join('; ') || null;
}

function faultOf(kind: Kind, value: unknown): string[] {
  if (kind === 'name') return typeof value === 'string' && value !== '' ? [] : ['must be text that is not empty'];
  if (kind === 'text') return value === undefined || typeof value === 'string' ? [] : ['must be text'];
  return [];
}
