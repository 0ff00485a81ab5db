import {
  LogUnreadableError,
  NoBootstrapError,
  SessionLiveError,
  SessionNotFoundError,
  SessionStuckError,
  SessionTerminalError,
  UsageError,
} from '../contract/errors.ts';
import type { Resuming } from '../contract/recovery.ts';
import { checkComposed } from '../pins/compose.ts';
import { bodyDigest } from '../session/digest.ts';
import { fold } from '../session/fold.ts';
import { type Examined, examine, type Ground } from './classify.ts';

export interface ResumeOptions extends Resuming {
  /** Heartbeat threshold that the session runs with, in milliseconds. */
  readonly heartbeatTimeoutMs: number;
}

/** A resume whose workflow was started. */
export interface StartedResume {
  readonly resume: number;
  readonly runId: string;
  /** Seq of the latest event before it. */
  readonly lastSeq: number;
}

/**
 * Starts the workflow that takes a session up where its log ends (R3). Only one can (R5): Temporal runs one workflow of an id, and
 * the first act of that is to claim the resume on the log.
 *
 * @throws {SessionLiveError} where another was faster.
 * @throws {PinCorruptError} {@link SkillNotInBundleError} nothing is started without the pin (P4).
 */
export async function startResume(
  { stores, workflows }: Ground,
  { view, first }: Pick<Examined, 'view' | 'first'>,
  { heartbeatTimeoutMs, cause, effects }: ResumeOptions,
): Promise<StartedResume> {
  const { session, bootstrap, resumes } = view;
  if (bootstrap === null) throw new NoBootstrapError(session);
  const { root, goal, taskQueue } = bootstrap;
  const pinned = await checkComposed(stores, bootstrap);
  const resume = resumes + 1;
  const runId = await workflows.start(
    {
      session,
      root,
      agent: pinned.name,
      resume,
      resuming: { cause, effects },
      dispatch: pinned.dispatch,
      budget: pinned.budget,
      goal: bodyDigest(goal),
      startedAt: Date.parse(String(first?.at)),
      heartbeatTimeoutMs,
    },
    taskQueue,
  );
  return { resume, runId, lastSeq: view.lastSeq };
}

export interface OperatorOptions extends Omit<ResumeOptions, 'cause'> {
  /** Ends a workflow whose tasks keep failing, and goes on without it (R4). Default false. */
  readonly takeover?: boolean;
}

/**
 * Resumes a session on purpose (R4), whatever a scan would make of it, except where it is live or over.
 *
 * @throws {SessionNotFoundError} {@link SessionTerminalError} (R6) {@link SessionLiveError} (R5)
 * @throws {LogUnreadableError} {@link PinCorruptError} {@link NoBootstrapError} what is broken is not made up for.
 */
export async function resumeByOperator(
  ground: Ground,
  session: string,
  { takeover = false, ...options }: OperatorOptions,
): Promise<StartedResume> {
  const examined = await examine(ground, session);
  if (examined === null) throw await whyNotHere(ground, session);
  await assertResumable(ground, examined, takeover);
  const started = await startResume(ground, examined, { ...options, cause: 'operator' });
  await ground.stores.unlist(session);
  return started;
}

async function assertResumable(ground: Ground, found: Examined, takeover: boolean): Promise<void> {
  const { session, view } = found;
  const { stores } = ground;
  switch (found.class) {
    case 'terminal':
      throw new SessionTerminalError(session, (view.root !== null && view.agents[view.root]?.phase) || 'over');
    case 'live': {
      const listed = await stores.listed(session);
      if (listed?.class !== 'pin' || listed.by !== 'worker') throw SessionLiveError.resumed(session, takeover);
      return takeOver(ground, { ...found, why: listed.why }, takeover);
    }
    case 'unreadable':
      fold(await stores.read(session));
      throw new LogUnreadableError(session, view.lastSeq + 1, found.why);
    case 'stuck':
      return takeOver(ground, found, takeover);
    default:
      return;
  }
}

/** Ends the workflow of a session that cannot go on by itself, on purpose only. */
async function takeOver(
  { stores, workflows }: Ground,
  { session, workflow, why, view }: Examined,
  takeover: boolean,
): Promise<void> {
  if (!takeover || workflow === null) throw new SessionStuckError(session, why);
  if (view.bootstrap === null) throw new NoBootstrapError(session);
  await checkComposed(stores, view.bootstrap);
  if (!(await workflows.terminate(session, workflow.runId, 'taken over: apomesh resume --takeover')))
    throw SessionLiveError.resumed(session);
}

async function whyNotHere({ stores, workflows }: Ground, session: string): Promise<SessionNotFoundError | UsageError> {
  const [first] = await stores.read(session, 0, 1);
  if (first?.type !== 'SessionStarted') return new SessionNotFoundError(session);
  const { namespace } = first.data;
  return new UsageError(
    `session ${session} is of namespace ${namespace}, and this is ${workflows.namespace}; give --namespace ${namespace}.`,
    { namespace },
  );
}
