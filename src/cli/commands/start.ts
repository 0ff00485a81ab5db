import type { StartOptions } from '../../client/start.ts';
import { interruptible, withSessions } from '../connect.ts';
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
    const session = await sessions.start({ agent, goal, ...given });
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
