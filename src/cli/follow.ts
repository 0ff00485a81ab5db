import type { SessionHandle } from '../client/handle.ts';
import { eventLine } from './event-line.ts';
import { standstillLine } from './finding-lines.ts';
import { jsonLine, line, note } from './terminal.ts';

interface FollowOptions {
  readonly json: boolean | undefined;
  readonly from?: number;
  readonly signal: AbortSignal;
}

/** Writes what a session logs, an event a line, to its end. Where it does not go on by itself, says so once. */
export async function follow(session: SessionHandle, { json, from = 0, signal }: FollowOptions): Promise<void> {
  /** Seq up to which it is known to stand still, and said. */
  let warnedAt: number | null = null;
  const warn = (why: string, at: number): void => {
    if (warnedAt === null) note(`note: ${why} This goes on following it; Ctrl-C ends this.`);
    warnedAt = at;
  };
  let last = -1;
  const onIdle = async () => {
    if (warnedAt === null) await session.assertRunning().catch((error: Error) => warn(error.message, last));
  };
  session
    .standstill()
    .then((found) => found && warn(`session ${session.id} ${standstillLine(found)}.`, found.lastSeq))
    .catch(() => undefined);
  for await (const event of session.tail({ from, signal, onIdle })) {
    last = event.seq;
    if (warnedAt !== null && last > warnedAt) warnedAt = null;
    await (json ? jsonLine(event) : line(eventLine(event)));
  }
}
