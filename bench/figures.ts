import { type Side, sides } from './sides.ts';
import { type Summary, summary } from './stats.ts';

/** What is to be reached, and whether it was. */
export interface Aim {
  readonly text: string;
  readonly met: boolean;
}

/** One line of the report. */
export interface Figure {
  /** What was measured; figures of one measure stand together. */
  readonly measure: string;
  readonly of: string;
  readonly unit: string;
  readonly value: Summary;
  /** Compared with plain Temporal, or whatever the measure says. */
  readonly ratio: number | null;
  readonly aim: Aim | null;
}

export const atLeast = (value: number, least: number, unit = '×'): Aim => ({
  text: `≥ ${least}${unit}`,
  met: value >= least,
});

export const atMost = (value: number, most: number, unit = '×'): Aim => ({
  text: `≤ ${most}${unit}`,
  met: value <= most,
});

/** How a side's figure is compared with plain Temporal's, so that the better one has the ratio the aim names. */
export type Comparison = 'as fast' | 'as many' | 'of it';

const ratioOf = (comparison: Comparison, side: number, plain: number): number =>
  comparison === 'as fast' ? plain / side : side / plain;

/** The figures of one measure for all sides, against plain Temporal. */
export function compared(
  measure: string,
  unit: string,
  comparison: Comparison,
  values: ReadonlyMap<Side, readonly number[]>,
  aims: Partial<Record<Side, (ratio: number, median: number) => Aim>> = {},
): Figure[] {
  const plain = values.get('plain');
  const base = plain === undefined ? null : summary(plain).median;
  return [...values].map(([side, measured]): Figure => {
    const value = summary(measured);
    const ratio = base === null || side === 'plain' ? null : ratioOf(comparison, value.median, base);
    const aim = aims[side]?.(ratio ?? Number.NaN, value.median) ?? null;
    return { measure: `${measure} (ratio: times ${comparison})`, of: sides[side].name, unit, value, ratio, aim };
  });
}

/** A figure that stands for itself. */
export const alone = (
  measure: string,
  of: string,
  unit: string,
  values: readonly number[],
  aim?: (median: number, max: number) => Aim,
): Figure => {
  const value = summary(values);
  return { measure, of, unit, value, ratio: null, aim: aim?.(value.median, value.max) ?? null };
};
