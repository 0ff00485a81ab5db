import { dayOf, timesIn } from './times.ts';

export const severities = ['SEV1', 'SEV2', 'SEV3', 'SEV4'] as const;
export type Severity = (typeof severities)[number];

/** What a report says of its incident. Times in milliseconds since 1970. */
export interface Report {
  readonly file: string;
  readonly title: string;
  readonly by: string | null;
  readonly reference: string | null;
  readonly service: string;
  readonly severity: Severity;
  readonly start: number;
  /** Null where the report does not say. */
  readonly end: number | null;
  readonly summary: string;
  readonly followUps: readonly string[];
}

export interface Malformed {
  readonly file: string;
  readonly why: string;
}

/** The labels under which reports state a field, whatever their style. */
const LABELS = {
  title: ['title', 'subject'],
  by: ['reported by', 'reporter', 'author', 'written by', 'filed by', 'team'],
  reference: ['incident', 'incident id', 'incident reference', 'reference', 'ref', 'incident no'],
  service: ['service', 'affected service', 'affected system', 'component', 'system'],
  severity: ['severity', 'sev', 'priority', 'impact level', 'impact'],
  start: ['started', 'start', 'began', 'detected', 'onset', 'first seen', 'window', 'when'],
  end: ['resolved', 'ended', 'end', 'mitigated', 'recovered', 'over by', 'all clear'],
} as const;
type Field = keyof typeof LABELS;

const WORDS: readonly (readonly [RegExp, Severity])[] = [
  [/\b(?:sev|p)[- ]?1\b|critical|outage/i, 'SEV1'],
  [/\b(?:sev|p)[- ]?2\b|major|high/i, 'SEV2'],
  [/\b(?:sev|p)[- ]?3\b|minor|moderate|medium/i, 'SEV3'],
  [/\b(?:sev|p)[- ]?4\b|low|cosmetic/i, 'SEV4'],
];

export function parseReport(file: string, text: string): Report | Malformed {
  const lines = text.split(/\r?\n/);
  const field = (name: Field): string | null => fieldOf(lines, LABELS[name]);
  const started = field('start') ?? '';
  const window = timesIn(started);
  const start = window[0];
  const service = slug(field('service') ?? '');
  const missing = [
    ...(service === '' ? ['which service was affected'] : []),
    ...(start === undefined ? ['when it started'] : []),
  ];
  if (service === '' || start === undefined) return { file, why: `it does not say ${missing.join(' or ')}` };
  const end = timesIn(field('end') ?? '', dayOf(start))[0] ?? window[1] ?? null;
  return {
    file,
    title: field('title') ?? heading(lines) ?? file,
    by: field('by'),
    reference: field('reference')?.match(/\bINC-\d{4}-\d{3,}\b/)?.[0] ?? null,
    service,
    severity: severityOf(field('severity') ?? '', text),
    start,
    end: end !== null && end >= start ? end : null,
    summary: summaryOf(lines),
    followUps: followUpsOf(lines),
  };
}

/** The first value under one of the labels: `label: value`, a table's row, or the line after a heading. */
function fieldOf(lines: readonly string[], labels: readonly string[]): string | null {
  const is = (text: string) => labels.includes(text.replace(/[*_`]/g, '').trim().toLowerCase());
  for (const [i, line] of lines.entries()) {
    const row = line.match(/^\s*\|([^|]+)\|([^|]+)\|/);
    const pair = line.match(/^[\s>*-]*([A-Za-z][A-Za-z ]{1,24}?)[*_]*\s*:[*_]*\s+(\S.*)$/);
    const head = line.match(/^#+\s+(.+)$/);
    const [label, value] = row ? [row[1], row[2]] : pair ? [pair[1], pair[2]] : [head?.[1], head && nextText(lines, i)];
    if (label && value && is(label)) return value.replace(/[*`"]/g, '').trim();
  }
  return null;
}

const nextText = (lines: readonly string[], i: number): string | undefined =>
  lines.slice(i + 1).find((line) => line.trim() !== '');

const heading = (lines: readonly string[]): string | null =>
  lines.map((line) => line.match(/^#\s+(.+)$/)?.[1]?.trim()).find((title) => title) ?? null;

function severityOf(stated: string, text: string): Severity {
  const found = [stated, text].flatMap((where) =>
    WORDS.filter(([word]) => word.test(where)).map(([, severity]) => severity),
  );
  return found[0] ?? 'SEV3';
}

/** The first paragraph of running text, on one line. */
function summaryOf(lines: readonly string[]): string {
  const paragraphs = lines.join('\n').split(/\n\s*\n/);
  const isProse = (text: string) => text.length > 80 && !/^\s*(?:[#|>*-]|---|\w[\w ]{1,24}:\s)/.test(text);
  return (paragraphs.find(isProse) ?? '').replace(/\s+/g, ' ').trim();
}

/** The items of the first list whose heading speaks of what is to be done. */
function followUpsOf(lines: readonly string[]): string[] {
  const from = lines.findIndex((line) => /^(?:#+|\*\*).*\b(?:follow|action|next step|to do|todo)/i.test(line));
  if (from < 0) return [];
  const after = lines.slice(from + 1);
  const to = after.findIndex((line) => /^#+\s/.test(line));
  return after.slice(0, to < 0 ? undefined : to).flatMap((line) => {
    const item = line.match(/^\s*(?:[-*]|\d+[.)])\s+(?:\[[ x]\]\s+)?(.+)$/);
    return item?.[1] ? [item[1].trim()] : [];
  });
}

export const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
