import { LogUnreadableError } from '../contract/errors.ts';
import type { CompletedRow, EventLog, RebuiltIndexes } from '../ports/store.ts';
import { completedOf } from '../session/completed.ts';
import { fold } from '../session/fold.ts';

/**
 * Derives the completed records of sessions from their logs (F6). One whose log cannot be read, or is not at its end, keeps
 * the record that it has: that knows of what the log has lost.
 *
 * @param put puts a record in place of whatever is there.
 */
export async function rebuildCompleted(
  sessions: Iterable<string> | AsyncIterable<string>,
  read: EventLog['read'],
  put: (row: CompletedRow) => Promise<void>,
): Promise<RebuiltIndexes> {
  const rebuilt = { sessions: 0, completed: 0, unreadable: 0 };
  for await (const session of sessions) {
    rebuilt.sessions += 1;
    try {
      const log = await read(session);
      const record = completedOf(fold(log), log.at(-1));
      if (record === null) continue;
      await put({ into: 'completed', ...record });
      rebuilt.completed += 1;
    } catch (error) {
      if (!(error instanceof LogUnreadableError)) throw error;
      rebuilt.unreadable += 1;
    }
  }
  return rebuilt;
}
