import { formatLog } from '../../session/ndjson.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { line } from '../terminal.ts';

const LINES_AT_ONCE = 500;

export const exportLog = (id: string, options: Common): Promise<number> =>
  withSessions(options, async (sessions) => {
    const log = await sessions.get(id).events();
    for (let i = 0; i < log.length; i += LINES_AT_ONCE) {
      await line(formatLog(log.slice(i, i + LINES_AT_ONCE)).slice(0, -1));
    }
    return 0;
  });
