import { styleText } from 'node:util';
import type { Figure } from './figures.ts';
import type { Summary } from './stats.ts';

const TITLES = ['', 'median', 'min – max', 'runs', 'ratio', 'aim', ''] as const;

/** The figures as a table, a block for each measure. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(rowOf);
  const widths = TITLES.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')}`.trimEnd();
  const lines = [line(TITLES)];
  let measure = '';
  for (const [i, figure] of figures.entries()) {
    if (figure.measure !== measure) lines.push('', styleText('bold', figure.measure));
    measure = figure.measure;
    lines.push(line(rows[i] ?? []));
  }
  return lines.join('\n');
}

function rowOf({ of, unit, value, ratio, aim }: Figure): string[] {
  return [
    of,
    `${numberOf(value.median)} ${unit}`,
    rangeOf(value),
    `${value.runs}`,
    ratio === null ? '' : `${ratio.toFixed(2)}×`,
    aim?.text ?? '',
    aim === null ? '' : aim.met ? 'met' : 'MISSED',
  ];
}

const rangeOf = ({ min, max, runs }: Summary): string => (runs > 1 ? `${numberOf(min)} – ${numberOf(max)}` : '');

const numberOf = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0 });
