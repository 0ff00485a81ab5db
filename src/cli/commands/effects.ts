import { withSessions } from '../connect.ts';
import { effectLines } from '../effect-lines.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export const effects = (id: string, options: Common): Promise<number> =>
  withSessions(options, async (sessions) => {
    const found = await sessions.get(id).effects();
    if (options.json) {
      await jsonLine(found);
      return 0;
    }
    if (found.length === 0) await line('it has begun no effect');
    for (const text of effectLines(found)) await line(text);
    return 0;
  });
