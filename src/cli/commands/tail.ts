import { interruptible, withSessions } from '../connect.ts';
import { follow } from '../follow.ts';
import type { Common } from '../options.ts';

export interface TailCommand extends Common {
  readonly from: number;
}

export const tail = (id: string, options: TailCommand): Promise<number> =>
  withSessions(options, (sessions) =>
    interruptible(async (signal) => {
      await follow(sessions.get(id), { json: options.json, from: options.from, signal });
      return 0;
    }),
  );
