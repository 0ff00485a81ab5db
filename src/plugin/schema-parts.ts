import ms, { type StringValue } from 'ms';
import { z } from 'zod';

/** Milliseconds of a duration. */
export const duration = z
  .union([z.number(), z.string()], { error: "is no duration; write 30_000 (milliseconds) or '30 seconds'" })
  .transform((value, context) => {
    const millis = typeof value === 'number' ? value : millisOf(value);
    if (Number.isFinite(millis) && millis >= 0) return millis;
    context.addIssue({
      code: 'custom',
      message: `${JSON.stringify(value)} is no duration; write 30_000 or '30 seconds'`,
    });
    return z.NEVER;
  });

/** Milliseconds of a duration as text; NaN where it is none. */
export function millisOf(text: string): number {
  try {
    return ms(text as StringValue);
  } catch {
    return Number.NaN;
  }
}

export const positive = z.number().positive({ error: 'must be more than 0' });
export const wholePositive = z.int({ error: 'must be a whole number' }).positive({ error: 'must be more than 0' });
