import type { AnswerInput, AnswerResult } from '../src/contract/activities.ts';
import { answerFault } from '../src/contract/answer-fault.ts';
import {
  type ApomeshError,
  InvalidAnswerError,
  PauseAnsweredError,
  SessionTerminalError,
  ToolChangedError,
  ToolMissingError,
  toFailure,
  UnknownPauseError,
  UnserializableValueError,
} from '../src/contract/errors.ts';
import { type Answer, MAX_INLINE_BYTES } from '../src/contract/session.ts';
import { draft, type SessionLog } from '../src/journal/session-log.ts';
import { canonicalJson } from '../src/session/canonical-json.ts';
import { bodyDigest, bodyOf } from '../src/session/digest.ts';
import type { EnvelopeOf } from '../src/session/envelopes.ts';
import type { Json } from '../src/session/json.ts';
import type { Engine } from './engine.ts';
import { fitting } from './fitting.ts';

/** As much of a pause's id as is logged where it is none of ours. */
const LONGEST_PAUSE_ID = 100;

/** As much as is said of why an answer is refused, in characters. */
const LONGEST_TEXT = 2_000;

type Raised = EnvelopeOf<'PauseRaised'>['data'] & { readonly agent: string };

/** Logs an answer, its body first (L4); or refuses it, saying what would be accepted (H2). */
export const acceptAnswer =
  (engine: Engine) =>
  async (input: AnswerInput): Promise<AnswerResult> => {
    try {
      const log = await engine.sessions.open(input.session);
      const refusal = await accept(engine, log, input);
      if (refusal === null) {
        const { pause, decision } = input.answer;
        return { kind: 'accepted', pause, decision, lastSeq: log.transcript.lastSeq };
      }
      if (input.logRefusal && !log.terminal) await logRefusal(log, input, refusal);
      return { kind: 'refused', ...inShort(refusal), lastSeq: log.transcript.lastSeq };
    } catch (error) {
      engine.sessions.forget(input.session);
      throw toFailure(error);
    }
  };

async function accept(engine: Engine, log: SessionLog, input: AnswerInput): Promise<ApomeshError | null> {
  const { session, answer } = input;
  const isAnswered = log.transcript.answered.has(answer.pause);
  // A try before this one may have come as far as the log.
  if (isAnswered && problemOfForm(answer) === null && (await put(log, null, input))) return null;
  const root = log.transcript.started?.data.root;
  if (log.terminal) return new SessionTerminalError(session, (root && log.agent(root)?.phase) || 'over');
  const pauses = openPauses(log);
  const raised = pauses.find(({ pause }) => pause === answer.pause);
  if (!raised) {
    if (isAnswered) return new PauseAnsweredError(session, answer.pause);
    return new UnknownPauseError(
      session,
      nameOf(answer),
      pauses.map(({ pause }) => pause),
    );
  }
  const wrong = await problemOf(engine, log, raised, answer);
  if (wrong) return new InvalidAnswerError(answer.pause, wrong, raised.accepts);
  return (await put(log, raised.agent, input)) ? null : new PauseAnsweredError(session, answer.pause);
}

/** Logs an answer where the pause has none. Gives whether the one that is logged is this one. */
async function put(
  log: SessionLog,
  agent: string | null,
  { session, resume, epoch, answer, token }: AnswerInput,
): Promise<boolean> {
  const { pause, decision, by, ...rest } = answer;
  const { ref, json } = bodyOf({ ...rest, token });
  const data = { pause, decision, ...(by === undefined ? {} : { by }), ref };
  const [logged] = await log.append({ agent: null, resume, epoch }, [
    { into: 'bodies', session, ref, json },
    draft('PauseAnswered', agent, `answered/${pause}`, data),
  ]);
  return logged?.type === 'PauseAnswered' && canonicalJson(logged.data) === canonicalJson(data);
}

const openPauses = (log: SessionLog): Raised[] =>
  [...log.transcript.agents.values()].flatMap(({ agent, pauses }) =>
    [...pauses.values()].map((raised) => ({ ...raised, agent })),
  );

/** What is wrong with an answer to a pause, or null. */
async function problemOf(engine: Engine, log: SessionLog, raised: Raised, answer: Answer): Promise<string | null> {
  const fault = problemOfForm(answer);
  if (fault !== null) return fault;
  if (!raised.accepts.includes(answer.decision)) return `there is no decision ${answer.decision}`;
  if (answer.decision === 'happened' && answer.result === undefined)
    return 'happened needs the result that the effect gave';
  if (answer.decision === 'edit') return problemOfEdit(engine, log, raised, answer.args);
  return null;
}

/** What is wrong with an answer, whatever it is to, or null. */
function problemOfForm(answer: Answer): string | null {
  const fault = answerFault(answer);
  if (fault !== null) return fault;
  const bytes = sizeOf(answer);
  if (typeof bytes === 'string') return bytes;
  return bytes > MAX_INLINE_BYTES ? `it is ${bytes} bytes, and at most ${MAX_INLINE_BYTES} are` : null;
}

/** Bytes of an answer, or why JSON cannot carry it. */
function sizeOf(answer: Answer): number | string {
  try {
    return bodyOf(answer).ref.bytes;
  } catch (error) {
    if (error instanceof UnserializableValueError) return error.message;
    throw error;
  }
}

async function problemOfEdit(
  { sessions, tools }: Engine,
  log: SessionLog,
  raised: Raised,
  args: Json | undefined,
): Promise<string | null> {
  if (args === undefined) return 'edit needs args';
  const pinned = (await sessions.pinned(log)).tools.find(({ name }) => name === raised.tool);
  if (!pinned) return `the agent has no tool ${raised.tool}`;
  try {
    return fitting(tools, pinned).check(args);
  } catch (error) {
    if (error instanceof ToolMissingError || error instanceof ToolChangedError) return error.message;
    throw error;
  }
}

/** A bad signal has nobody to tell, so the log says it (H2). The same one again is the same happening. */
async function logRefusal(
  log: SessionLog,
  { resume, epoch, answer }: AnswerInput,
  refusal: ApomeshError,
): Promise<void> {
  const id = `refused/${bodyDigest(JSON.stringify(answer))}`;
  const data = { pause: nameOf(answer), why: refusal.code };
  await log.append({ agent: null, resume, epoch }, [draft('AnswerRefused', null, id, data)]);
}

/** Whoever sends a signal may put anything in the place of a pause's id. */
const nameOf = ({ pause }: Answer): string =>
  typeof pause === 'string' ? pause.slice(0, LONGEST_PAUSE_ID).toWellFormed() : '';

/** A refusal as the history can take it: what is refused may be of any size. */
function inShort({ code, message, fields }: ApomeshError) {
  const cut = (text: string) =>
    text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}...`.toWellFormed() : text;
  const short = Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]);
  return { code, message: cut(message), fields: Object.fromEntries(short) as ApomeshError['fields'] };
}
