import {
  ApplicationFailure,
  CancellationScope,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import type { AnswerResult } from '../src/contract/activities.ts';
import {
  ANSWER,
  type Answer,
  answerInput,
  CANCEL,
  type CancelRequest,
  type SessionStatus,
  STATUS,
} from '../src/contract/session.ts';
import { coordinating } from './activities.ts';
import { show } from './details.ts';
import type { SessionState } from './state.ts';

const answerSignal = defineSignal<[Answer]>(ANSWER);
const answerUpdate = defineUpdate<{ pause: string; decision: string }, [Answer]>(ANSWER);
const cancelSignal = defineSignal<[CancelRequest?]>(CANCEL);
const cancelUpdate = defineUpdate<void, [CancelRequest?]>(CANCEL);
const statusQuery = defineQuery<SessionStatus>(STATUS);

/** Answers, cancellation and status of a session (H1, H2). */
export function handle(state: SessionState, scope: CancellationScope): void {
  const cancel = (request?: CancelRequest) => {
    state.cancelReason ??= typeof request?.reason === 'string' ? request.reason : '';
    scope.cancel();
  };
  setHandler(statusQuery, () => state.status);
  setHandler(cancelSignal, cancel);
  setHandler(cancelUpdate, cancel);
  setHandler(answerSignal, async (answer) => {
    await accept(state, answer, true);
  });
  setHandler(
    answerUpdate,
    async (answer) => {
      const result = await accept(state, answer, false);
      if (result.kind === 'refused') throw refusal(result);
      return { pause: result.pause, decision: result.decision };
    },
    { validator: (answer) => validate(state, answer) },
  );
}

/** Accepted means that PauseAnswered is acknowledged. */
async function accept(state: SessionState, answer: Answer, logRefusal: boolean): Promise<AnswerResult> {
  const { session, resume, epoch } = state.ownAct();
  const given = isAnswerLike(answer) ? answer : { pause: '', decision: '' };
  const result = await CancellationScope.nonCancellable(() =>
    coordinating().acceptAnswer({ session, resume, epoch, answer: given, logRefusal }),
  );
  state.reach(result);
  if (result.kind === 'accepted') {
    state.answers.push({ pause: result.pause, decision: result.decision });
    show(state);
  }
  return result;
}

const isAnswerLike = (answer: unknown): answer is Answer =>
  typeof answer === 'object' && answer !== null && !Array.isArray(answer);

/** What can be refused without leaving a trace in the history. */
function validate(state: SessionState, answer: Answer): void {
  const parsed = answerInput.safeParse(answer);
  if (!parsed.success) {
    const why = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'answer'}: ${message}`).join('; ');
    throw ApplicationFailure.nonRetryable(`the answer is not valid: ${why}`, 'INVALID_ANSWER', { why });
  }
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
