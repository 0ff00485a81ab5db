import { defaultPayloadConverter, type RawValue, rawValueTypeInfo } from '@temporalio/common';
import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
  sleep,
  uuid4,
} from '@temporalio/workflow';
import type { AnswerResult } from '../src/contract/activities.ts';
import { answerFault } from '../src/contract/answer-fault.ts';
import {
  ANSWER,
  type Answer,
  CANCEL,
  type CancelRequest,
  type SessionStatus,
  STATUS,
} from '../src/contract/session.ts';
import { coordinating } from './activities.ts';
import { show } from './details.ts';
import type { SessionState } from './state.ts';

/** Signals are decoded here: one that cannot be read would otherwise stop the workflow (H2). */
const undecoded = { typeInfo: { inputTypes: [rawValueTypeInfo] } };

/** Refusals that say that nothing is to be waited for any more. */
const SETTLED: ReadonlySet<string> = new Set(['PAUSE_ANSWERED', 'SESSION_TERMINAL']);

const answerSignal = defineSignal<[RawValue?]>(ANSWER, undecoded);
const answerUpdate = defineUpdate<{ pause: string; decision: string }, [Answer]>(ANSWER);
const cancelSignal = defineSignal<[RawValue?]>(CANCEL, undecoded);
const cancelUpdate = defineUpdate<void, [CancelRequest?]>(CANCEL);
const statusQuery = defineQuery<SessionStatus>(STATUS);

/** Answers, cancellation and status of a session (H1, H2). */
export function handle(state: SessionState, scope: CancellationScope): void {
  const cancel = (request?: CancelRequest) => {
    state.cancelReason ??= typeof request?.reason === 'string' ? request.reason : '';
    scope.cancel();
  };
  setHandler(statusQuery, () => state.status);
  setHandler(cancelSignal, (request) => cancel(decoded(request) as CancelRequest | undefined));
  setHandler(cancelUpdate, async (request) => {
    await keepUpdate();
    cancel(request);
  });
  setHandler(answerSignal, async (answer) => {
    // A signal never fails the workflow: what keeps the log from being written stops the dispatch as well.
    await accept(state, decoded(answer), true).catch((error) => log.warn(`answer not taken: ${error}`));
  });
  setHandler(
    answerUpdate,
    async (answer) => {
      await keepUpdate();
      const result = await accept(state, answer, false);
      if (result.kind === 'refused') throw refusal(result);
      return { pause: result.pause, decision: result.decision };
    },
    { validator: (answer) => validate(state, answer) },
  );
}

/**
 * Ends this workflow task. Temporal keeps an update only from then on: one that it forgets, with its server or its worker, must have
 * left nothing on the log, which nobody would tell the workflow of (H3).
 */
const keepUpdate = (): Promise<void> => CancellationScope.nonCancellable(() => sleep(1));

/** Accepted means that PauseAnswered is acknowledged. */
async function accept(state: SessionState, answer: unknown, logRefusal: boolean): Promise<AnswerResult> {
  const { session, resume, epoch } = state.ownAct();
  const given = answerLike(answer);
  const token = uuid4();
  const result = await CancellationScope.nonCancellable(() =>
    state.alone(() => coordinating().acceptAnswer({ session, resume, epoch, answer: given, token, logRefusal })),
  );
  state.reach(result);
  // One that another run of this workflow took (before a reset) counts here too, as does the end that came after it: the
  // agent can go on, or be found at its end.
  const isAnswered = result.kind === 'accepted' || SETTLED.has(result.code);
  if (isAnswered && !state.isAnswered(given.pause)) {
    state.answers.push({ pause: given.pause, decision: result.kind === 'accepted' ? result.decision : '' });
    show(state);
  }
  return result;
}

function decoded(raw: RawValue | undefined): unknown {
  try {
    return raw && defaultPayloadConverter.fromPayload(raw.payload);
  } catch {
    return undefined;
  }
}

/** The answer as far as it can be handed on, to be judged where the log is. */
function answerLike(answer: unknown): Answer {
  const none = { pause: '', decision: '' };
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) || ArrayBuffer.isView(answer)) return none;
  try {
    JSON.stringify(answer);
    return answer as Answer;
  } catch {
    return none;
  }
}

/** What can be refused without leaving a trace in the history. */
function validate(state: SessionState, answer: Answer): void {
  const fault = answerFault(answer);
  if (fault !== null)
    throw ApplicationFailure.nonRetryable(`the answer is not valid: ${fault}`, 'INVALID_ANSWER', { why: fault });
  if (state.isAnswered(answer.pause))
    throw ApplicationFailure.nonRetryable(
      `pause ${answer.pause} was answered before; the first answer stands.`,
      'PAUSE_ANSWERED',
      {
        pause: answer.pause,
      },
    );
}

const refusal = ({ code, message, fields }: Extract<AnswerResult, { kind: 'refused' }>) =>
  ApplicationFailure.create({ message, type: code, nonRetryable: true, details: [fields] });
