import { withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface CancelCommand extends Common {
  readonly reason?: string;
}

export const cancel = (id: string, options: CancelCommand): Promise<number> =>
  withSessions(options, async (sessions) => {
    await sessions.get(id).cancel(options.reason);
    await (options.json ? jsonLine({ session: id, cancelling: true }) : line(`asked session ${id} to end`));
    return 0;
  });
