import { nothingSpent } from '../src/agent/budget.ts';
import { initialLoop } from '../src/agent/loop.ts';
import { FencedError, SessionTerminalError } from '../src/contract/errors.ts';
import type { ResumeInput, ResumeResult } from '../src/contract/recovery.ts';
import type { SessionCarry } from '../src/contract/session.ts';
import { AgentRun } from '../src/journal/agent-run.ts';
import { draft, type SessionLog } from '../src/journal/session-log.ts';
import type { EnvelopeOf } from '../src/session/envelopes.ts';
import type { Engine } from './engine.ts';
import { failureOf } from './unfit.ts';

/**
 * Takes a session up: SessionResumed, which fences every writer before (R3), then where the root stands. The event is the claim too: of
 * several runs that would log the same resume it names the one that goes on (R5).
 */
export const resumeSession =
  (engine: Engine) =>
  async (input: ResumeInput): Promise<ResumeResult> => {
    const { session, resume, cause, effects, claimant } = input;
    try {
      const log = await engine.sessions.open(session);
      const checkpoint = log.transcript.checkpoint;
      const data = { resume, cause, checkpoint, effects, run: claimant };
      const resumed = draft('SessionResumed', null, `session-resumed/${resume}`, data);
      const [logged] = await log.append({ agent: null, resume, epoch: 0 }, [resumed]);
      if (logged?.type !== 'SessionResumed' || logged.data.run !== claimant) return { kind: 'overtaken' };
      await engine.stores.unlist(session);
      return { kind: 'resumed', carried: await carryOf(engine, log, logged) };
    } catch (error) {
      const failure = await failureOf(engine, session, error);
      if (error instanceof FencedError || error instanceof SessionTerminalError) return { kind: 'overtaken' };
      throw failure;
    }
  };

/**
 * Where the root stands by the log. After a reset of the run this act comes again: whatever was logged since it first did is of a
 * dispatch that may still drive the root, so that the next one is to raise the fence (W4).
 */
async function carryOf(engine: Engine, log: SessionLog, resumed: EnvelopeOf<'SessionResumed'>): Promise<SessionCarry> {
  const { resume } = resumed.data;
  const root = String(log.transcript.started?.data.root);
  const { lastSeq } = log.transcript;
  const transcript = log.agent(root);
  const epoch = transcript?.epoch ?? 0;
  const carry = { phase: 'running', epoch, slice: 0, lost: resumed.seq < lastSeq, lastSeq, answers: [] } as const;
  if (!transcript) return { ...carry, spent: nothingSpent, loop: initialLoop, pauses: [] };
  const run = new AgentRun({
    bodies: engine.sessions.bodies,
    log,
    id: { session: log.session, agent: root, resume, epoch, slice: 0 },
    pinned: await engine.sessions.pinned(log),
    maxBodyBytes: engine.limits.maxBodyBytes,
  });
  try {
    await run.open();
    return { ...carry, spent: run.state.spent, loop: run.state, pauses: run.openPauses() };
  } finally {
    run.close();
  }
}
