import type { EndInput } from '../src/contract/activities.ts';
import { SessionTerminalError } from '../src/contract/errors.ts';
import type { SessionResult } from '../src/contract/session.ts';
import { endEntries } from '../src/journal/agent-run.ts';
import { bodyOf } from '../src/session/digest.ts';
import { bornDraft } from './begin.ts';
import type { Engine } from './engine.ts';
import { failureOf } from './unfit.ts';

/** Ends an agent that no dispatch drives; one that has ended stays as it ended (R6). */
export const endAgent =
  (engine: Engine) =>
  async (input: EndInput): Promise<SessionResult & { lastSeq: number }> => {
    const { session, agent, resume, epoch, ending, detail } = input;
    try {
      const log = await engine.sessions.open(session);
      if (!log.agent(agent)?.ending) {
        const body =
          detail === null ? {} : { detail: { into: 'bodies' as const, session, ...bodyOf(detail.toWellFormed()) } };
        const entries = endEntries(log, agent, ending, body);
        if (!log.agent(agent)) entries.unshift(bornDraft(agent, await engine.sessions.pinned(log)));
        // By the coordinator, whom a resume fences and no epoch does (W4).
        await log.append({ agent: null, resume, epoch }, entries).catch((error) => {
          if (!(error instanceof SessionTerminalError)) throw error;
        });
      }
      const ended = log.agent(agent)?.ending ?? { phase: ending.phase, reason: ending.reason, output: null };
      return { ...ended, lastSeq: log.transcript.lastSeq };
    } catch (error) {
      throw await failureOf(engine, session, error);
    }
  };
