import type { CallState } from '../agent/loop.ts';
import type { EnvelopeOf } from '../session/envelopes.ts';
import type { Json } from '../session/json.ts';
import type { AgentRun } from './agent-run.ts';

/** What a person decided about a call. */
export interface Answered {
  readonly seq: number;
  readonly decision: string;
  readonly body: { readonly reason?: string; readonly args?: Json; readonly result?: Json; readonly by?: string };
}

/** The latest answer to a pause of this call. */
export async function answered(run: AgentRun, call: CallState): Promise<Answered | null> {
  const last = call.decisions.at(-1);
  return last ? answerTo(run, last.pause) : null;
}

async function answerTo(run: AgentRun, pause: string): Promise<Answered | null> {
  const event = run.transcript.tail.find(
    (event): event is EnvelopeOf<'PauseAnswered'> => event.type === 'PauseAnswered' && event.data.pause === pause,
  );
  if (!event) return null;
  const body = event.data.ref ? ((await run.body('bodies', event.data.ref)) as Answered['body']) : {};
  return {
    seq: event.seq,
    decision: event.data.decision,
    body: { ...body, ...(event.data.by ? { by: event.data.by } : {}) },
  };
}

/** The arguments to run with: as the model gave them, or as a person edited them (H4). */
export async function argumentsOf(run: AgentRun, call: CallState): Promise<Json> {
  const edit = call.decisions.findLast(({ decision }) => decision === 'edit');
  const answer = edit ? await answerTo(run, edit.pause) : null;
  if (answer?.body.args !== undefined) return answer.body.args;
  const stored = run.generation?.calls.find(({ call: id }) => id === call.call);
  return stored?.input ?? null;
}

/** A person let the call run, as it was or edited. */
export const isApproved = (call: CallState): boolean =>
  call.decisions.some(({ decision }) => decision === 'approve' || decision === 'edit');

/** What an agent is told of a call that a person rejected. */
export const denial = ({ body }: Answered): string =>
  `denied by ${body.by ?? 'a person'}${body.reason ? `: ${body.reason}` : ''}`;
