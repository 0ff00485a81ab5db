import type { DispatchId } from '../src/contract/activities.ts';
import { toFailure } from '../src/contract/errors.ts';
import { draft } from '../src/journal/session-log.ts';
import type { Engine } from './engine.ts';

/** Logs that an agent waits. */
export const parkAgent =
  (engine: Engine) =>
  async ({ session, agent, resume, epoch, slice }: DispatchId) => {
    try {
      const log = await engine.sessions.open(session);
      const id = `waiting/${agent}/${resume}.${epoch}.${slice}`;
      await log.append({ agent: null, resume, epoch }, [draft('AgentLifecycle', agent, id, { phase: 'waiting' })]);
      return { lastSeq: log.transcript.lastSeq };
    } catch (error) {
      engine.sessions.forget(session);
      throw toFailure(error);
    }
  };
