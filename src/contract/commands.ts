import type { Json } from '../session/json.ts';
import { ANSWER, type Answer } from './session.ts';

/** How one decision on a pause is given, ready to be pasted into a POSIX shell. */
export interface AnswerCommands {
  /** Waits until the answer is accepted or refused. */
  readonly apomesh: string;
  /** A signal: needs no worker at the time, and says nothing about what became of it. */
  readonly temporal: string;
}

interface Beside {
  readonly field: string;
  readonly sample: Json;
  /** Stands where only a person knows what to say; left as it is, it is no JSON and refused. */
  readonly blank?: string;
}

/** What a decision needs beside its name, with something to fill in. */
const BESIDE: Readonly<Record<string, Beside>> = {
  edit: { field: 'args', sample: {} },
  happened: { field: 'result', sample: null, blank: 'RESULT_AS_JSON' },
  answer: { field: 'text', sample: '...' },
};

/**
 * The commands that give a decision on a pause (H1).
 *
 * @param beside what to give with a decision that needs something: the arguments of `edit`, the result of `happened`, the
 * text of `answer`. Default: a value to be filled in.
 */
export function answerCommands(session: string, pause: string, decision: string, beside?: Json): AnswerCommands {
  const needed = Object.hasOwn(BESIDE, decision) ? BESIDE[decision] : undefined;
  const value = needed && (beside ?? needed.sample);
  const blank = beside === undefined ? needed?.blank : undefined;
  const isText = typeof value === 'string' && needed?.field === 'text';
  const given = blank ?? (isText ? value : JSON.stringify(value));
  const option = needed && given !== undefined ? ` --${needed.field} ${shellWord(given)}` : '';
  const words = [session, pause, decision].map(shellWord).join(' ');
  const separator = [session, pause, decision].some((word) => word.startsWith('-')) ? '-- ' : '';
  const temporal = signalCommand(session, { pause, decision, ...(needed && { [needed.field]: value }) });
  return {
    apomesh: `apomesh answer${option} ${separator}${words}`,
    temporal: blank === undefined ? temporal : temporal.replace(/null(?=\}'$)/, blank),
  };
}

/** The command that sends an answer as a signal. */
export function signalCommand(session: string, answer: Answer): string {
  const input = shellWord(JSON.stringify(answer));
  return `temporal workflow signal ${workflowOption(session)} --name ${ANSWER} --input ${input}`;
}

const workflowOption = (session: string): string =>
  session.startsWith('-') ? `--workflow-id=${shellWord(session)}` : `--workflow-id ${shellWord(session)}`;

/** A text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
