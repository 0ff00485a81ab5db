import type { Incident } from './group.ts';
import type { Malformed } from './parse.ts';
import { format } from './times.ts';

export const ticketPath = ({ id }: Incident): string => `tickets/${id}.md`;

export function ticketText(incident: Incident): string {
  const { id, service, severity, start, end, reports } = incident;
  const followUps = new Set(reports.flatMap((report) => report.followUps));
  const lines = [
    `# ${id}: ${reports[0]?.title.replace(`${id}: `, '')}`,
    '',
    `- Service: ${service}`,
    `- Severity: ${severity}`,
    `- Start: ${format(start)}`,
    `- End: ${end === null ? 'not stated' : `${format(end)} (${Math.round((end - start) / 60_000)} minutes)`}`,
    '',
    '## What happened',
    '',
    ...reports.flatMap(({ summary, by, file }) => [`${summary || 'No summary.'} (${by ?? file})`, '']),
    '## Reports',
    '',
    ...reports.map(({ file, by, severity: claimed }) => `- ${file}${by === null ? '' : `, by ${by}`}: ${claimed}`),
  ];
  if (followUps.size > 0) lines.push('', '## Follow-ups', '', ...[...followUps].map((item) => `- [ ] ${item}`));
  return `${lines.join('\n')}\n`;
}

export interface Findings {
  readonly reports: number;
  readonly incidents: readonly Incident[];
  readonly malformed: readonly Malformed[];
  /** What did not work out, as sentences. */
  readonly troubles: readonly string[];
}

export function summaryText({ reports, incidents, malformed, troubles }: Findings): string {
  const duplicates = incidents.filter((incident) => incident.reports.length > 1);
  const section = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : ['', `## ${title}`, '', ...items];
  const lines = [
    '# Incident summary',
    '',
    `${reports} reports, ${incidents.length} distinct incidents, ${malformed.length} malformed.`,
    '',
    '| Incident | Severity | Service | Start | Ticket |',
    '|---|---|---|---|---|',
    ...incidents.map((incident) => {
      const { id, severity, service, start } = incident;
      return `| ${id} | ${severity} | ${service} | ${format(start)} | [ticket](${ticketPath(incident)}) |`;
    }),
    ...section(
      'Duplicates',
      duplicates.map(({ id, reports: same }) => `- ${id}: ${same.map(({ file }) => file).join(', ')}`),
    ),
    ...section(
      'Malformed',
      malformed.map(({ file, why }) => `- ${file}: ${why}.`),
    ),
    ...section(
      'Troubles',
      troubles.map((trouble) => `- ${trouble}`),
    ),
  ];
  return `${lines.join('\n')}\n`;
}
