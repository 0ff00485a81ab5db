import { LogUnreadableError } from '../contract/errors.ts';
import type { Audit } from '../ports/audit.ts';
import type { CompletedRow } from '../ports/store.ts';
import { completedOf } from '../session/completed.ts';
import type { Envelope } from '../session/envelopes.ts';
import { fold } from '../session/fold.ts';
import type { SessionView } from '../session/view.ts';
import type { Problem, Witness } from './verify.ts';

/** What is wrong with a log: row by row, with what its events say together, and with where it ends. */
export function logProblems(session: string, audit: Audit, witness: Witness): Problem[] {
  const rows = audit.faults.filter((fault) => fault.in === 'events');
  const whole = audit.envelopes.filter(({ seq }, index) => seq === index);
  const folded = foldOf(whole);
  const problems: Problem[] = rows.map(({ seq, why }) => ({ seq, code: 'LOG_UNREADABLE', message: sentence(why) }));
  if (folded instanceof LogUnreadableError) problems.push(unreadable(folded));
  problems.push(...endProblems(session, audit, witness, folded));
  if (rows.length > 0 || folded instanceof LogUnreadableError) return problems;
  return [...problems, ...recordProblems(audit.completed, folded, whole.at(-1))];
}

function foldOf(log: readonly Envelope[]): SessionView | LogUnreadableError {
  try {
    return fold(log);
  } catch (error) {
    if (error instanceof LogUnreadableError) return error;
    throw error;
  }
}

/** A log that is shorter than somebody knew. */
function endProblems(
  session: string,
  { lastSeq, completed, envelopes }: Audit,
  witness: Witness,
  folded: SessionView | LogUnreadableError,
): Problem[] {
  const isWhole = envelopes.length === lastSeq + 1 && !(folded instanceof LogUnreadableError);
  // Terminal is final (R6): whoever knows of more is wrong.
  if (isWhole && folded.terminal) return [];
  const end = lastSeq < 0 ? 'nothing of it is there' : `it ends at seq ${lastSeq}`;
  const short = (why: string): Problem =>
    unreadable(new LogUnreadableError(session, lastSeq + 1, `${end}, and ${why}`));
  if (completed !== null && completed.lastSeq > lastSeq)
    return [short(`its completed record knows of seq ${completed.lastSeq}`)];
  if (witness.lastSeq !== null && witness.lastSeq > lastSeq) return [short(`Temporal knows of seq ${witness.lastSeq}`)];
  return witness.isOver && isWhole ? [short('Temporal says that the session came to its end')] : [];
}

/** A record that says something else than the log. That there is none is no fault: it may come later (F6). */
function recordProblems(record: CompletedRow | null, view: SessionView, last: Envelope | undefined): Problem[] {
  const expected = completedOf(view, last);
  if (record === null || (expected === null && record.lastSeq > view.lastSeq)) return [];
  const wrong = (what: string): Problem => ({
    seq: null,
    code: 'INDEX_INCONSISTENT',
    message: `${what}; \`apomesh recover --rebuild\` makes it again from the log.`,
  });
  if (expected === null) return [wrong('there is a completed record, and the log goes on')];
  const { phase, reason, lastSeq, at } = expected;
  const names = Object.entries({ phase, reason, lastSeq, at })
    .filter(([name, value]) => record[name as keyof CompletedRow] !== value)
    .map(([name]) => name);
  return names.length === 0 ? [] : [wrong(`the completed record has another ${names.join(', ')} than the log`)];
}

const unreadable = (error: LogUnreadableError): Problem => ({
  seq: Number(error.fields['seq']),
  code: error.code,
  message: error.message,
});

const sentence = (why: string): string => (why.endsWith('.') ? why : `${why}; restore it from a backup.`);
