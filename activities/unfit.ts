import { Context } from '@temporalio/activity';
import {
  PinCorruptError,
  SkillNotInBundleError,
  ToolChangedError,
  ToolMissingError,
  toFailure,
} from '../src/contract/errors.ts';
import { messageOf } from '../src/journal/attempt.ts';
import type { Engine } from './engine.ts';

/**
 * What an activity of a session throws. One that cannot be composed as it was pinned, or not on this worker, is loud, and listed for
 * an operator; nothing of it is changed (P4).
 */
export async function failureOf({ stores, sessions }: Engine, session: string, error: unknown): Promise<unknown> {
  sessions.forget(session);
  if (isUnfit(error)) {
    const { log } = Context.current();
    const why = error.message;
    try {
      const listed = await stores.listed(session);
      if (listed?.class !== 'pin' || listed.why !== why || listed.by !== 'worker') {
        log.warn(`session ${session} is left for an operator (pin): ${why}`, { session });
        await stores.list({ session, class: 'pin', why, at: new Date().toISOString(), by: 'worker' });
      }
    } catch (failed) {
      log.error(`session ${session} could not be listed as recoverable: ${messageOf(failed)}`, { session });
    }
  }
  return toFailure(error);
}

const isUnfit = (error: unknown): error is Error =>
  error instanceof PinCorruptError ||
  error instanceof SkillNotInBundleError ||
  error instanceof ToolMissingError ||
  error instanceof ToolChangedError;
