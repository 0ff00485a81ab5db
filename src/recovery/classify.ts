import { LogUnreadableError, PinCorruptError, SkillNotInBundleError } from '../contract/errors.ts';
import type { Finding } from '../contract/recovery.ts';
import { checkComposed, compose } from '../pins/compose.ts';
import type { RecoverableEntry, Stores } from '../ports/store.ts';
import type { WorkflowState, Workflows } from '../ports/workflows.ts';
import type { Envelope } from '../session/envelopes.ts';
import { evolve, fold } from '../session/fold.ts';
import { idleResumes, MAX_IDLE_RESUMES, type RecoveryClass } from '../session/recovery.ts';
import { empty, type SessionView } from '../session/view.ts';

/** What recovery works over. */
export interface Ground {
  readonly stores: Stores;
  readonly workflows: Workflows;
  readonly now?: () => number;
}

/** A session as it was found, with its state where the log can be read. */
export interface Examined extends Finding {
  readonly view: SessionView;
  /** The ends of its log, as far as that was read. */
  readonly first: Envelope | undefined;
  readonly last: Envelope | undefined;
  readonly workflow: WorkflowState | null;
}

/** So long a session may have its first event and no workflow yet, by clocks that differ: whoever starts it writes the event first. */
const STARTING_MS = 60_000;

/** From here on a workflow task that fails counts as one that keeps failing. */
const STUCK_TASKS = 3;

/** What Temporal says of a workflow that a person ended. */
const CLOSED_BY_PERSON: ReadonlySet<string> = new Set(['TERMINATED', 'CANCELLED']);

/**
 * What is to become of a session that has no completed record, the first that holds in the order of R2.
 *
 * @returns null where the session is another namespace's (R1), or has no log.
 */
export async function examine(ground: Ground, session: string): Promise<Examined | null> {
  const { stores, workflows } = ground;
  let view = empty;
  let log: Envelope[] = [];
  let workflow: WorkflowState | null = null;
  const found = (as: RecoveryClass, why: string): Examined => {
    return { session, class: as, why, view, first: log[0], last: log.at(-1), workflow };
  };
  try {
    const [first] = await stores.read(session, 0, 1);
    const isForeign = first?.type === 'SessionStarted' && first.data.namespace !== workflows.namespace;
    if (first === undefined || isForeign) return null;
    log = await stores.read(session);
    view = fold(log);
    if (!view.terminal) {
      workflow = await workflows.describe(session);
      // What it logged before it was over.
      for (const event of workflow?.isOpen ? [] : await stores.read(session, log.length)) {
        log.push(event);
        view = evolve(view, event);
      }
    }
  } catch (error) {
    if (!(error instanceof LogUnreadableError)) throw error;
    return found('unreadable', error.message);
  }
  if (view.terminal) return found('terminal', `it is over (${phaseOf(view)})`);
  if (workflow?.isOpen) return found(...stuckOrLive(workflow));
  if (workflow?.status === 'COMPLETED')
    return found('unreadable', `its workflow completed, and the log ends before that, at seq ${view.lastSeq}`);
  return found(...(await ofLost(ground, log, view, workflow)));
}

type Found = readonly [found: RecoveryClass, why: string];

const stuckOrLive = ({ failedTasks }: WorkflowState): Found =>
  failedTasks >= STUCK_TASKS
    ? ['stuck', `its workflow task has failed ${failedTasks} times in a row; the Web UI shows why`]
    : ['live', 'its workflow is open'];

/** What becomes of a session that no workflow drives. */
async function ofLost(
  { stores, now = Date.now }: Ground,
  log: readonly Envelope[],
  view: SessionView,
  workflow: WorkflowState | null,
): Promise<Found> {
  const closed = await closedBy(stores, view.session, workflow);
  if (closed !== null) return ['closed', closed];
  const { bootstrap, sideEffects } = view;
  if (bootstrap === null) return ['no-bootstrap', 'its log has no SessionStarted, so there is nothing to start from'];
  const [first] = log;
  if (log.length === 1 && workflow === null && first && Math.abs(now() - Date.parse(first.at)) < STARTING_MS)
    return ['live', 'it is being started'];
  if (sideEffects > 0) {
    const fault = await faultOf(() => compose(stores, bootstrap));
    const too = fault === null ? '' : `; ${fault}`;
    return ['side-effects', `it has ${sideEffects} side effects, so a person decides${too}`];
  }
  const fault = await faultOf(() => checkComposed(stores, bootstrap));
  if (fault !== null) return ['pin', fault];
  const idle = idleResumes(log);
  if (idle >= MAX_IDLE_RESUMES) return ['failing', `it was resumed ${idle} times without a new checkpoint`];
  return ['resume', workflow === null ? 'no workflow drives it' : `its workflow is over (${workflow.status})`];
}

/** Whether a person closed the session: as Temporal says, or as is remembered where Temporal has forgotten. */
async function closedBy(stores: Stores, session: string, workflow: WorkflowState | null): Promise<string | null> {
  if (workflow !== null)
    return CLOSED_BY_PERSON.has(workflow.status) ? `its workflow was ended by a person (${workflow.status})` : null;
  const listed = await stores.listed(session);
  return listed === null ? null : closingOf(listed);
}

/** What is remembered of a person's having closed a session, whatever else it is listed for. */
export const closingOf = (listed: RecoverableEntry): string | null =>
  listed.class === 'closed' ? listed.why : (listed.closed ?? null);

/** What is wrong with a pin, or null (P4): of one that a person sees to anyway, its files apart. */
async function faultOf(check: () => Promise<unknown>): Promise<string | null> {
  try {
    await check();
    return null;
  } catch (error) {
    if (error instanceof PinCorruptError || error instanceof SkillNotInBundleError) return error.message;
    throw error;
  }
}

const phaseOf = ({ root, agents }: SessionView): string => (root !== null && agents[root]?.phase) || 'over';
