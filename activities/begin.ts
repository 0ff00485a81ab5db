import { agentConfigOf, type PinnedAgent, type PinnedTool } from '../src/agent/shape.ts';
import type { DispatchInput } from '../src/contract/activities.ts';
import { ClaimTakenError } from '../src/contract/errors.ts';
import { AgentRun } from '../src/journal/agent-run.ts';
import { draft, type Entry } from '../src/journal/session-log.ts';
import type { EventDraft } from '../src/session/envelopes.ts';
import type { Engine } from './engine.ts';
import { fitting } from './fitting.ts';

export interface Begun {
  readonly run: AgentRun;
  readonly pinned: PinnedAgent;
}

/** Which try at an activity begins: the run of a workflow, and the activity within it. */
export interface Claimant {
  readonly run: string;
  readonly activity: string;
}

/**
 * Takes up an agent for one activity: claims it, and where the dispatch before was lost strikes its worker and raises the
 * fence first (W3, W4).
 *
 * @returns null where a newer writer drives the agent.
 * @param needs the tools that this worker must have for it, as they were pinned.
 * @param along what else is due at once, such as an intent: logged in the same write as the claim, and only with it.
 * @throws {ToolMissingError} {@link ToolChangedError} where it lacks one, or has another.
 * @throws {ClaimTakenError} where another run of Temporal's making does so under the same epoch: it has this very slice, or
 * has raised this very fence.
 */
export async function begin(
  engine: Engine,
  input: DispatchInput,
  { run: by, activity }: Claimant,
  needs: (pinned: PinnedAgent) => readonly PinnedTool[],
  along: (run: AgentRun) => readonly Entry[],
): Promise<Begun | null> {
  await engine.alive();
  const log = await engine.sessions.open(input.session);
  const { session, agent, resume, epoch, slice } = input;
  if (log.isFenced({ agent, resume, epoch })) return null;
  const pinned = await engine.sessions.pinned(log);
  for (const tool of needs(pinned)) fitting(engine.tools, tool);
  if (input.listed) await engine.stores.unlist(session);
  const run = new AgentRun({
    bodies: engine.sessions.bodies,
    log,
    id: { session, agent, resume, epoch, slice },
    pinned,
    maxBodyBytes: engine.limits.maxBodyBytes,
  });
  if (log.agent(agent)?.ending) return { run, pinned };
  // The dispatch that was to raise the fence may have failed before it did.
  const isFenceDue = input.lost || epoch > (log.agent(agent)?.epoch ?? 0);
  if (isFenceDue) await strikeLost(engine, input);
  const claimant = `${by}/${activity}`;
  const claim: Entry = { into: 'dispatches', session, agent, resume, epoch, slice, worker: engine.worker, claimant };
  const opening = openingOf(run, input, isFenceDue, by);
  const taken = isFenceDue ? [...opening, claim] : [claim, ...opening];
  try {
    // Before the fence is up, the lost dispatch may still log a generation: what it did is read after that.
    const isSettled = log.agent(agent) !== undefined && !isFenceDue;
    if (isSettled) await run.open();
    const logged = await run.append([...taken, ...(isSettled ? along(run) : [])]);
    if (logged.some((event) => event.type === 'AgentResuming' && event.data.run !== by))
      throw new ClaimTakenError(agent, epoch, slice);
    if (!isSettled) await run.open();
  } catch (error) {
    run.close();
    throw error;
  }
  return { run, pinned };
}

/** The events that a dispatch opens with, as far as the log lacks them. */
function openingOf(
  { log, pinned }: AgentRun,
  { agent, epoch, resume, slice }: DispatchInput,
  isFenceDue: boolean,
  by: string,
): Entry[] {
  const transcript = log.agent(agent);
  const opening: Entry[] = [];
  if (!transcript) {
    opening.push(bornDraft(agent, pinned));
  }
  if (isFenceDue) {
    const snapshot = transcript?.snapshot?.ordinal ?? null;
    opening.push(draft('AgentResuming', agent, `resuming/${agent}/${resume}.${epoch}`, { epoch, snapshot, run: by }));
  }
  if (transcript?.phase !== 'running') {
    const id = `running/${agent}/${resume}.${epoch}.${slice}`;
    opening.push(draft('AgentLifecycle', agent, id, { phase: 'running' }));
  }
  return opening;
}

/** The birth of a root agent, with its full config (F2). */
export function bornDraft(agent: string, pinned: PinnedAgent): EventDraft {
  const config = { ...agentConfigOf(pinned) };
  const data = { phase: 'born', parent: null, role: 'root', task: null, config, replaces: null } as const;
  return draft('AgentLifecycle', agent, `born/${agent}`, data);
}

async function strikeLost({ stores, worker }: Engine, { session, agent, resume, epoch }: DispatchInput): Promise<void> {
  const claims = await stores.claims(session, agent);
  const lost = claims.findLast((claim) => claim.resume === resume && claim.epoch < epoch);
  if (lost && lost.worker !== worker) await stores.strike(lost.worker);
}
