import type { EffectMode } from '../../contract/recovery.ts';
import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface ResumeCommand extends Common {
  readonly effects: EffectMode;
  readonly takeover?: boolean;
}

export const resume = (id: string, options: ResumeCommand): Promise<number> =>
  withSessions(options, async (_, recovery) => {
    const { effects, takeover = false } = options;
    const resumed = await recovery.resume(id, { effects, takeover });
    if (options.json) await jsonLine(resumed);
    else if (resumed.logged)
      await line(`session ${id} goes on (resume ${resumed.resume}); follow it: apomesh tail ${id}`);
    else await line(`session ${id} goes on as soon as a worker takes it (resume ${resumed.resume}): apomesh worker`);
    return 0;
  });
