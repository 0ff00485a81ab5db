import { adviceOn } from '../../session/recovery.ts';
import { withSessions } from '../connect.ts';
import { findingLines } from '../finding-lines.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export const recoverable = (options: Common): Promise<number> =>
  withSessions(options, async (_, recovery) => {
    const listed = await recovery.list();
    if (options.json) {
      await jsonLine(listed);
      return 0;
    }
    if (listed.length === 0) await line('no session waits for an operator');
    for (const text of findingLines(listed)) await line(text);
    const classes = [...new Set(listed.map((entry) => entry.class))];
    if (classes.length > 0) await line();
    for (const found of classes) await line(`${found}: ${adviceOn(found, 'SESSION')}`);
    return 0;
  });
