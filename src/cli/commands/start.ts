import type { SessionHandle } from '../../client/handle.ts';
import type { Sessions } from '../../client/sessions.ts';
import type { StartOptions } from '../../client/start.ts';
import { ApomeshError } from '../../session/error.ts';
import { configOf, interruptible, withSessions } from '../connect.ts';
import { follow } from '../follow.ts';
import { textOrFile } from '../given.ts';
import type { Common } from '../options.ts';
import { jsonLine, line, styled } from '../terminal.ts';
import { writeOutput } from './output.ts';

export interface StartCommand extends Common, Partial<Omit<StartOptions, 'agent'>> {
  readonly goal: string;
  readonly follow?: boolean;
}

export async function start(agent: string, options: StartCommand): Promise<number> {
  const { json, id, durability, taskQueue } = options;
  const goal = await textOrFile('--goal', options.goal);
  const given = Object.fromEntries(
    Object.entries({ id, durability, taskQueue }).filter(([, value]) => value !== undefined),
  );
  return withSessions(options, async (sessions) => {
    const session = await started(sessions, { agent, goal, ...given }, options);
    if (json) await jsonLine({ session: session.id });
    else await line(`started session ${styled('bold', session.id)}`);
    if (!options.follow) {
      if (!json) await line(`follow it with: apomesh tail ${session.id}`);
      return 0;
    }
    return interruptible(async (signal) => {
      await follow(session, { json, signal });
      return signal.aborted ? 0 : writeOutput(session, { ...options, signal });
    });
  });
}

/** Starts a session. Where the agent is not published, it is the config that is missed, if there is none. */
async function started(sessions: Sessions, start: StartOptions, options: StartCommand): Promise<SessionHandle> {
  try {
    return await sessions.start(start);
  } catch (error) {
    if (error instanceof ApomeshError && error.fields['field'] === 'config') await configOf(options);
    throw error;
  }
}
