import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import { type PastCall, pastCalls } from './conversation.ts';
import { groupReports, type Incident } from './group.ts';
import { type Malformed, parseReport, type Report } from './parse.ts';
import { type Findings, summaryText, ticketPath, ticketText } from './write.ts';

interface Asked {
  readonly tool: string;
  readonly args: Readonly<Record<string, string>>;
}

interface Answer {
  readonly text: string;
  readonly calls?: readonly Asked[];
}

/** Files read in one step. */
const BATCH = 3;

/** A call that fails is made once more, unless a person denied it. */
const ATTEMPTS = 2;

const LIST: Asked = { tool: 'list_directory', args: { path: 'reports' } };
const MAKE_FOLDER: Asked = { tool: 'create_directory', args: { path: 'tickets' } };
const readCall = (file: string): Asked => ({ tool: 'read_text_file', args: { path: `reports/${file}` } });

/** The next step, from the conversation alone. */
export function answerSoFar(prompt: LanguageModelV4Prompt): Answer {
  const past = new Past(pastCalls(prompt));
  const listing = past.of(LIST);
  if (!listing.over) return { text: 'I look for the reports.', calls: [LIST] };
  const files = filesIn(listing.text);
  const unread = files.filter((file) => !past.of(readCall(file)).over).slice(0, BATCH);
  if (unread.length > 0) return { text: `I read ${unread.join(', ')}.`, calls: unread.map(readCall) };
  const findings = findingsOf(files, listing, past);
  return writeTickets(findings.incidents, past) ?? writeSummary(findings, past) ?? finalAnswer(findings, past);
}

/** A ticket at a time, and with it the ledger's entry of the one before, which by now is known to be written. */
function writeTickets(incidents: readonly Incident[], past: Past): Answer | null {
  if (incidents.length === 0) return null;
  if (!past.of(MAKE_FOLDER).over) return { text: 'I make a folder for the tickets.', calls: [MAKE_FOLDER] };
  const next = incidents.find((incident) => !past.of(ticketCall(incident)).over);
  const unentered = incidents.filter(
    (incident) => past.of(ticketCall(incident)).ok && !past.wasAsked(ledgerCall(incident)),
  );
  const calls = [...unentered.map(ledgerCall), ...(next ? [ticketCall(next)] : [])];
  if (calls.length === 0) return null;
  const words = [...unentered.map(({ id }) => `enter ${id}`), ...(next ? [`write the ticket of ${next.id}`] : [])];
  return { text: `I ${words.join(' and ')}.`, calls };
}

function writeSummary(findings: Findings, past: Past): Answer | null {
  const call = summaryCall(findings);
  return past.of(call).over ? null : { text: 'I sum it up.', calls: [call] };
}

function finalAnswer({ reports, incidents, malformed }: Findings, past: Past): Answer {
  const answer = {
    reports,
    incidents: incidents.length,
    duplicates: reports - malformed.length - incidents.length,
    malformed: malformed.map(({ file }) => file),
    tickets: incidents.filter((incident) => past.of(ticketCall(incident)).ok).map(ticketPath),
  };
  return { text: JSON.stringify(answer) };
}

const ticketCall = (incident: Incident): Asked => ({
  tool: 'write_file',
  args: { path: ticketPath(incident), content: ticketText(incident) },
});

const ledgerCall = (incident: Incident): Asked => ({
  tool: 'append_ledger',
  args: { incident: incident.id, service: incident.service, severity: incident.severity, ticket: ticketPath(incident) },
});

const summaryCall = (findings: Findings): Asked => ({
  tool: 'write_file',
  args: { path: 'summary.md', content: summaryText(findings) },
});

const filesIn = (listing: string): string[] =>
  [...listing.matchAll(/^\[FILE\] (.+\.md)$/gm)].map(([, name]) => name as string).sort();

function findingsOf(files: readonly string[], listing: Outcome, past: Past): Findings {
  const parsed = files.map((file): Report | Malformed => {
    const read = past.of(readCall(file));
    return read.ok ? parseReport(file, read.text) : { file, why: `it could not be read (${read.text})` };
  });
  const incidents = groupReports(parsed.filter((report) => 'service' in report));
  const troubles = [
    ...(listing.ok ? [] : [`The reports could not be listed: ${listing.text}`]),
    ...incidents.flatMap((incident) => [
      ...past.troubleWith(ticketCall(incident), `The ticket of ${incident.id} was not written`),
      ...past.troubleWith(ledgerCall(incident), `The ledger's entry of ${incident.id} is not certain`),
    ]),
  ];
  return { reports: files.length, incidents, malformed: parsed.filter((report) => 'why' in report), troubles };
}

interface Outcome {
  /** Done, denied, or failed as often as it may. */
  readonly over: boolean;
  readonly ok: boolean;
  readonly text: string;
}

class Past {
  readonly #calls: readonly PastCall[];

  constructor(calls: readonly PastCall[]) {
    this.#calls = calls;
  }

  of(asked: Asked): Outcome {
    const made = this.#made(asked);
    const last = made.findLast((call) => call.ok) ?? made.at(-1);
    const over = last !== undefined && (last.ok || last.denied || made.length >= ATTEMPTS);
    return { over, ok: last?.ok ?? false, text: last?.text ?? '' };
  }

  wasAsked(asked: Asked): boolean {
    return this.#made(asked).length > 0;
  }

  troubleWith(asked: Asked, what: string): string[] {
    const { ok, text } = this.of(asked);
    return ok || !this.wasAsked(asked) ? [] : [`${what}: ${text}`];
  }

  #made(asked: Asked): PastCall[] {
    const keys = Object.keys(asked.args);
    return this.#calls.filter(
      (call) => call.tool === asked.tool && keys.every((key) => call.args[key] === asked.args[key]),
    );
  }
}
