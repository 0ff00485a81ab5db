import { type Report, type Severity, severities } from './parse.ts';
import { format } from './times.ts';

/** Reports of the same thing. */
export interface Incident {
  readonly id: string;
  readonly service: string;
  readonly severity: Severity;
  readonly start: number;
  readonly end: number | null;
  /** By start; never empty. */
  readonly reports: readonly Report[];
}

/** How long an incident lasts of which no report says when it ended. */
const ASSUMED_MS = 2 * 60 * 60_000;

/** Distinct incidents, by start: reports with the same reference, or of the same service at overlapping times. */
export function groupReports(reports: readonly Report[]): Incident[] {
  const groups: Report[][] = [];
  for (const report of reports.toSorted(byStart)) {
    const same = groups.filter((group) => group.some((other) => isSame(report, other)));
    const merged = [...same.flat(), report];
    for (const group of same) groups.splice(groups.indexOf(group), 1);
    groups.push(merged);
  }
  return groups.map(incidentOf).sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
}

const byStart = (a: Report, b: Report): number => a.start - b.start || (a.file < b.file ? -1 : 1);

function isSame(a: Report, b: Report): boolean {
  if (a.reference !== null && b.reference !== null) return a.reference === b.reference;
  return a.service === b.service && a.start <= endOf(b) && b.start <= endOf(a);
}

const endOf = ({ start, end }: Report): number => end ?? start + ASSUMED_MS;

function incidentOf(group: readonly Report[]): Incident {
  const reports = group.toSorted(byStart);
  const [first] = reports as [Report, ...Report[]];
  const ends = reports.flatMap(({ end }) => (end === null ? [] : [end]));
  const reference = reports.find((report) => report.reference !== null)?.reference;
  return {
    id: reference ?? `INC-${format(first.start).slice(0, 10).replaceAll('-', '')}-${first.service}`,
    service: first.service,
    severity: severities.find((severity) => reports.some((report) => report.severity === severity)) ?? 'SEV3',
    start: first.start,
    end: ends.length > 0 ? Math.max(...ends) : null,
    reports,
  };
}
