import type { z } from 'zod';
import { ConfigInvalidError } from '../contract/errors.ts';

/** Something in a config that is wrong. */
export interface Problem {
  readonly field: string;
  readonly why: string;
}

/** What `make` gives; where that is refused, null, and the problem is noted, of `field` or of the field that the error names. */
export function attempted<T>(field: string | null, problems: Problem[], make: () => T): T | null {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof ConfigInvalidError)) throw error;
    problems.push({ field: field ?? String(error.fields['field']), why: String(error.fields['why']) });
    return null;
  }
}

/** One error for all, the first of which it says in full. */
export function report(problems: readonly Problem[], file: string | null): ConfigInvalidError {
  const [first, ...others] = problems as readonly [Problem, ...Problem[]];
  const more = others.length === 0 ? '' : ` (wrong too: ${others.map(({ field }) => field).join(', ')})`;
  return new ConfigInvalidError(first.field, `${first.why.replace(/\.$/, '')}.${more}`, file);
}

/** What an issue of a schema means for the field it is about. */
export function problemOf(issue: z.core.$ZodIssue): Problem {
  const field = pathOf(issue.path);
  switch (issue.code) {
    case 'unrecognized_keys': {
      const at = pathOf([...issue.path, issue.keys[0] ?? '']);
      return { field: at, why: 'there is no such field; check its spelling, or leave it out' };
    }
    case 'invalid_key':
      return { field, why: issue.issues[0]?.message ?? issue.message };
    case 'invalid_type': {
      const at = field || '(whole)';
      if (!issue.message.startsWith('Invalid input')) return { field: at, why: issue.message };
      const missing = issue.message.endsWith('received undefined');
      return { field: at, why: `${missing ? 'is missing; it must' : 'must'} be ${aOf(issue.expected)}` };
    }
    case 'invalid_value':
      if (!issue.message.startsWith('Invalid')) return { field, why: issue.message };
      return { field, why: `must be one of ${issue.values.map(String).join(', ')}` };
    default:
      return { field, why: issue.message };
  }
}

const aOf = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);

function pathOf(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : `${text === '' ? '' : '.'}${String(part)}`;
  return text;
}
