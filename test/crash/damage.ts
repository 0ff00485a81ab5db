import type { Random } from '../support/random.ts';

export type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };

/** Rows of one table, as they are and as they are damaged: one or two, or none after a deletion. */
export interface Damage {
  readonly table: string;
  /** Which of what, for people. */
  readonly what: string;
  readonly before: readonly Doc[];
  readonly after: readonly Doc[];
}

/** What can be damaged: a row, those it can be swapped with, and whether anybody could tell that it is gone. */
export interface Target {
  readonly table: string;
  readonly doc: Doc;
  /** Its columns that are looked at. */
  readonly columns: readonly string[];
  readonly others: readonly Doc[];
  readonly isMissed: boolean;
}

const kinds = ['flip', 'cut', 'swap', 'delete'] as const;

/** One random flip, truncation, swap or deletion; null where the one that was drawn changes nothing. */
export function drawDamage(random: Random, target: Target): Damage | null {
  const kind = random.one(kinds);
  switch (kind) {
    case 'flip':
      return changed(target, kind, random, flipped);
    case 'cut':
      return changed(target, kind, random, cut);
    case 'swap':
      return swapped(target, random);
    case 'delete':
      return target.isMissed ? damageOf(target, 'delete', [target.doc], []) : null;
    default:
      throw new TypeError(`unknown kind ${JSON.stringify(kind satisfies never)}`);
  }
}

const damageOf = ({ table, doc }: Target, what: string, before: readonly Doc[], after: readonly Doc[]): Damage => ({
  table,
  what: `${what} of ${table} ${doc._id}`,
  before,
  after,
});

const GONE = Symbol('gone');
type Change = (value: unknown, random: Random) => unknown;

function changed(target: Target, kind: string, random: Random, change: Change): Damage | null {
  const { doc, columns, isMissed } = target;
  const column = random.one(columns);
  // A row of another key is a row that is gone.
  if (column === '_id' && !isMissed) return null;
  const value = change(doc[column], random);
  if (value === doc[column] || (column === '_id' && typeof value !== 'string')) return null;
  const { [column]: _, ...rest } = doc;
  const after = value === GONE ? rest : { ...doc, [column]: value };
  return damageOf(target, `${kind} of ${column}`, [doc], [after as Doc]);
}

function flipped(value: unknown, random: Random): unknown {
  if (typeof value === 'string') return value === '' ? 'x' : flippedText(value, random);
  if (typeof value === 'number')
    return random.one([value ^ (1 << random.below(31)), -value - 1, value + 0.5, String(value)]);
  if (typeof value !== 'object' || value === null) return random.one(['x', 1, {}]);
  const key = random.one(Object.keys(value));
  return { ...value, [key]: flipped((value as Record<string, unknown>)[key], random) };
}

/** One bit of one character that stays printable ASCII, or is replaced. */
function flippedText(text: string, random: Random): string {
  const at = random.below(text.length);
  const code = text.charCodeAt(at) ^ (1 << random.below(6));
  const other = code > 31 && code < 127 ? String.fromCharCode(code) : text[at] === '~' ? '#' : '~';
  return text.slice(0, at) + other + text.slice(at + 1);
}

function cut(value: unknown, random: Random): unknown {
  return typeof value === 'string' && value !== '' && random.below(4) > 0
    ? value.slice(0, random.below(value.length))
    : GONE;
}

/** One column, or all but the key. */
function swapped(target: Target, random: Random): Damage | null {
  const { doc, columns, others } = target;
  if (others.length === 0) return null;
  const other = random.one(others);
  const names = columns.filter((name) => name !== '_id');
  const some = random.below(4) === 0 ? names : [random.one(names)];
  if (some.every((name) => JSON.stringify(doc[name]) === JSON.stringify(other[name]))) return null;
  const taking = (into: Doc, from: Doc): Doc => ({
    ...into,
    ...Object.fromEntries(some.map((name) => [name, from[name]])),
  });
  return damageOf(
    target,
    `swap of ${some.join(', ')}, with ${other._id},`,
    [doc, other],
    [taking(doc, other), taking(other, doc)],
  );
}
