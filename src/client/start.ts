import { randomBytes } from 'node:crypto';
import { BodyTooLargeError, UsageError } from '../contract/errors.ts';
import { DEFAULT_TASK_QUEUE, MAX_INLINE_BYTES, type SessionInput } from '../contract/session.ts';
import type { Agents } from '../plugin/agents.ts';
import type { ResolvedConfig } from '../plugin/config.ts';
import type { Row, Stores } from '../ports/store.ts';
import { formatAgentRef, sessionIdFault } from '../session/agent-ref.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import { bodyDigest } from '../session/digest.ts';
import { type Durability, durabilities } from '../session/envelopes.ts';
import { GoalTooLargeError } from './errors.ts';
import { assertFree, type FirstEvent, logFirstEvent, taken } from './first-event.ts';
import type { Temporal } from './temporal.ts';

/** What a session is to work on, and by whom. */
export interface StartOptions {
  /**
   * Name of an agent: `name` for the newest version that is no pre-release, `name@^1.2` for the newest of a range,
   * `name@1.2.0` for that very one. Versions are the published ones and the config's own; the published one goes first.
   */
  readonly agent: string;
  /** At most 64 KiB. */
  readonly goal: string;
  /** Session id: no slash, no control characters, at most 200 characters. Default: made of the agent's name and the date. */
  readonly id?: string;
  /** Default: the agent's own. */
  readonly durability?: Durability;
  /** Task queue of the worker pool that runs it. Default `apomesh`. */
  readonly taskQueue?: string;
}

export interface Starter {
  readonly temporal: Temporal;
  readonly stores: Stores;
  readonly limits: ResolvedConfig['limits'];
  readonly agents: Pick<Agents, 'resolve' | 'keep'>;
}

/**
 * Starts a session and gives its id. Everything is checked before anything is written; then the pin is stored,
 * the instructions and SessionStarted go out in one write, and the workflow is started last. A start that broke off in between is completed by
 * starting again with the same id, agent and goal.
 */
export async function startSession(starter: Starter, options: StartOptions): Promise<string> {
  checkOptions(options);
  const { temporal, stores } = starter;
  const resolved = await starter.agents.resolve(options.agent, options.durability);
  const { kind, pinned, digest, shape, instructions, sealed } = resolved;
  const { maxBodyBytes } = starter.limits;
  const { bytes } = instructions.ref;
  // Where it is published, it was sealed under the limits of another.
  if (bytes > maxBodyBytes) throw new BodyTooLargeError(`the instructions of ${pinned.name}`, bytes, maxBodyBytes);
  const session = options.id ?? newId(pinned.name);
  const taskQueue = options.taskQueue ?? DEFAULT_TASK_QUEUE;
  const event: FirstEvent = {
    v: 1,
    session,
    seq: 0,
    id: 'started',
    at: new Date().toISOString(),
    type: 'SessionStarted',
    agent: formatAgentRef({ session, role: 'root', n: 1 }),
    writer: { resume: 0, epoch: 0 },
    data: {
      goal: options.goal,
      root: formatAgentRef({ session, role: 'root', n: 1 }),
      namespace: temporal.namespace,
      taskQueue,
      shape: { ...shape },
      pin: { kind, digest, name: pinned.name, version: pinned.version },
      durability: shape.durability,
    },
  };
  await assertUnknown(starter, event);
  if (sealed !== null) await starter.agents.keep(sealed);
  const before: Row[] = [{ into: 'bodies', session, ...instructions }];
  const logged = await logFirstEvent(stores, before, event);
  const input: SessionInput = {
    session,
    root: logged.data.root,
    agent: pinned.name,
    resume: 0,
    dispatch: pinned.dispatch,
    budget: pinned.budget,
    goal: bodyDigest(logged.data.goal),
    startedAt: Date.parse(logged.at),
    heartbeatTimeoutMs: starter.limits.heartbeatTimeoutMs,
  };
  await temporal.start(input, taskQueue);
  return session;
}

function checkOptions({ agent, goal, id, durability }: StartOptions): void {
  if (typeof agent !== 'string' || agent === '') throw new UsageError('name an agent.', { field: 'agent' });
  if (typeof goal !== 'string') throw new UsageError('the goal is text.', { field: 'goal' });
  canonicalJson({ goal });
  if (goal.trim() === '') throw new UsageError('say what the session is to do: the goal is empty.', { field: 'goal' });
  const bytes = Buffer.byteLength(goal);
  if (bytes > MAX_INLINE_BYTES) throw new GoalTooLargeError(bytes, MAX_INLINE_BYTES);
  const fault = id === undefined ? null : sessionIdFault(id);
  if (fault !== null) throw new UsageError(`${fault}; choose another id.`, { field: 'id' });
  if (durability !== undefined && !durabilities.includes(durability)) {
    throw new UsageError(`the durability is one of ${durabilities.join(', ')}.`, { field: 'durability' });
  }
}

/** Readable, in the order of time within a day and agent, and unique. */
function newId(agent: string): string {
  const day = new Date().toISOString().slice(0, 10);
  return `${agent}-${day}-${randomBytes(5).toString('hex')}`;
}

/** Refuses an id that Temporal or the log knows, and finds out whether both answer, before anything is written. */
async function assertUnknown({ temporal, stores }: Starter, event: FirstEvent): Promise<void> {
  const [workflow] = await Promise.all([temporal.describe(event.session), assertFree(stores, event)]);
  if (workflow !== null) throw taken(event.session, await stores.read(event.session));
}
