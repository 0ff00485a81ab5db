import {
  isGrpcServiceError,
  ServiceError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { answerFault } from '../contract/answer-fault.ts';
import { signalCommand } from '../contract/commands.ts';
import {
  type ApomeshError,
  type ErrorCode,
  InvalidAnswerError,
  RemoteError,
  SessionNotFoundError,
} from '../contract/errors.ts';
import { ANSWER, type Answer, MAX_INLINE_BYTES } from '../contract/session.ts';
import type { Stores } from '../ports/store.ts';
import { sessionIdFault } from '../session/agent-ref.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import type { Json, JsonObject } from '../session/json.ts';
import { NoWorkerError, SessionStoppedError } from './errors.ts';
import { taken } from './first-event.ts';
import { UNKNOWN_STATUS } from './standstill.ts';
import type { Temporal } from './temporal.ts';

/** What to say to a pause; which fields a decision takes is in the pause's `accepts`. */
export interface AnswerOptions {
  readonly decision: string;
  /** Who answers. */
  readonly by?: string;
  /** Why: with `reject` and `fail`; the agent sees it. */
  readonly reason?: string;
  /** New arguments: with `edit`. */
  readonly args?: Json;
  /** The answer to a question. */
  readonly text?: string;
  /** What the effect gave: with `happened`. */
  readonly result?: Json;
}

/** How long a worker has to take an update, in milliseconds. */
const WORKER_PATIENCE_MS = 10_000;

/**
 * Answers a pause; returns once PauseAnswered is on the log (H2).
 *
 * @throws what the session says: {@link RemoteError} with code PAUSE_ANSWERED, UNKNOWN_PAUSE or INVALID_ANSWER.
 * @throws {NoWorkerError} where no worker took it within 10 seconds, and then it stays queued and may count later; or where
 * the workflow's task keeps failing, and then it was not taken.
 */
export async function answerPause(
  temporal: Temporal,
  stores: Pick<Stores, 'read'>,
  session: string,
  pause: string,
  options: AnswerOptions,
): Promise<void> {
  const answer = checkAnswer(pause, options);
  // Before waiting for a worker: whether there is anything to wait for.
  if ((await temporal.describe(session)) === null) throw await whyNotThere(temporal, stores, session);
  const handle = temporal.client.workflow.getHandle(session);
  try {
    await temporal.call(() => handle.executeUpdate(ANSWER, { args: [answer] }), WORKER_PATIENCE_MS);
  } catch (error) {
    const isOver = error instanceof WorkflowNotFoundError || isOfEndedRun(error);
    if (error instanceof WorkflowUpdateFailedError && !isOver) throw fromFailure(error.cause) ?? error;
    if (isOver) throw await whyNotThere(temporal, stores, session);
    if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError)
      throw NoWorkerError.queued(session, WORKER_PATIENCE_MS);
    if (isOfFailingTask(error)) throw NoWorkerError.failing(session, signalCommand(session, answer));
    throw error;
  }
}

/** gRPC's status for what the state of things forbids. */
const FAILED_PRECONDITION = 9;

/** Whether Temporal takes no update since no worker could go on with the workflow, several times in a row. */
function isOfFailingTask(error: unknown): boolean {
  const grpc = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(grpc) && grpc.code === FAILED_PRECONDITION && /workflow task/i.test(grpc.details);
}

/** Whether the run ended while it had the update in hand. */
const isOfEndedRun = (error: unknown): boolean =>
  error instanceof WorkflowUpdateFailedError &&
  error.cause instanceof ApplicationFailure &&
  error.cause.type === 'AcceptedUpdateCompletedWorkflow';

function checkAnswer(pause: string, options: AnswerOptions): Answer {
  const given = Object.fromEntries(Object.entries({ pause, ...options }).filter(([, value]) => value !== undefined));
  const fault = answerFault(given);
  if (fault !== null) throw new InvalidAnswerError(pause, fault, []);
  const bytes = Buffer.byteLength(canonicalJson(given));
  if (bytes > MAX_INLINE_BYTES) {
    throw new InvalidAnswerError(pause, `it is ${bytes} bytes and the limit is ${MAX_INLINE_BYTES}`, []);
  }
  return given as unknown as Answer;
}

/** An error of ours that came back through Temporal, or null. */
function fromFailure(cause: unknown): RemoteError | null {
  for (let failure = cause; failure instanceof Error; failure = failure.cause) {
    if (!(failure instanceof ApplicationFailure) || !failure.type) continue;
    const [fields] = failure.details ?? [];
    const known = typeof fields === 'object' && fields !== null ? (fields as JsonObject) : {};
    return new RemoteError(failure.type as ErrorCode, failure.message, known);
  }
  return null;
}

/** The error for a session that Temporal does not run (any more), from its log. */
export async function whyNotThere(
  temporal: Temporal,
  stores: Pick<Stores, 'read'>,
  session: string,
): Promise<ApomeshError> {
  const log = sessionIdFault(session) === null ? await stores.read(session) : [];
  if (log.length === 0) return new SessionNotFoundError(session);
  const why = taken(session, log);
  if (why.code === 'SESSION_TERMINAL') return why;
  return new SessionStoppedError(session, (await temporal.describe(session))?.status ?? UNKNOWN_STATUS);
}
