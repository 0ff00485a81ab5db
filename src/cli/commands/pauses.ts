import type { Pause } from '../../client/pauses.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { pauseLines } from '../pause-lines.ts';
import { jsonLine, line } from '../terminal.ts';

export const pauses = (id: string | undefined, options: Common): Promise<number> =>
  withSessions(options, async (sessions) => {
    const found: Pause[] = [];
    if (id === undefined) for await (const pause of sessions.pauses()) found.push(pause);
    else found.push(...(await sessions.get(id).pauses()));
    const ids = [...new Set(found.map(({ session }) => session))];
    const standing = new Map(
      await Promise.all(ids.map(async (one) => [one, await sessions.get(one).standstill()] as const)),
    );
    const standstillOf = ({ session }: Pause) => standing.get(session) ?? null;
    if (options.json) {
      await jsonLine(found.map((pause) => ({ ...pause, standstill: standstillOf(pause) })));
    } else {
      if (found.length === 0) await line('nothing waits for a person');
      for (const text of found.flatMap((pause) => ['', ...pauseLines(pause, standstillOf(pause))]).slice(1))
        await line(text);
    }
    return 0;
  });
