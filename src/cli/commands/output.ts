import type { SessionHandle } from '../../client/handle.ts';
import { interruptible, withSessions } from '../connect.ts';
import type { Common } from '../options.ts';
import { jsonLine, line } from '../terminal.ts';

export interface OutputCommand extends Common {
  readonly wait: boolean;
}

export const output = (id: string, options: OutputCommand): Promise<number> =>
  withSessions(options, (sessions) =>
    interruptible((signal) => writeOutput(sessions.get(id), { json: options.json, wait: options.wait, signal })),
  );

/** Writes a session's output, text as it is. @throws {SessionFailedError} */
export async function writeOutput(
  session: SessionHandle,
  { json, wait = true, signal }: { json?: boolean | undefined; wait?: boolean; signal: AbortSignal },
): Promise<number> {
  const value = await session.output({ wait, signal });
  if (json) await jsonLine(value);
  else await line(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
  return 0;
}
