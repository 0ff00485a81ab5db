import type { SessionHandle } from '../client/handle.ts';
import { eventLine } from './event-line.ts';
import { jsonLine, line, note } from './terminal.ts';

interface FollowOptions {
  readonly json: boolean | undefined;
  readonly from?: number;
  readonly signal: AbortSignal;
}

/** Writes what a session logs, an event a line, to its end. */
export async function follow(session: SessionHandle, { json, from = 0, signal }: FollowOptions): Promise<void> {
  let warned = false;
  const onIdle = async () => {
    if (warned) return;
    await session.assertRunning().catch((error: Error) => {
      warned = true;
      note(`note: ${error.message} Ctrl-C ends this.`);
    });
  };
  for await (const event of session.tail({ from, signal, onIdle })) {
    warned = false;
    await (json ? jsonLine(event) : line(eventLine(event)));
  }
}
