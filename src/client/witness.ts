import { SESSION_WORKFLOW, type SessionStatus, STATUS } from '../contract/session.ts';
import type { Temporal } from './temporal.ts';
import type { Witness } from './verify.ts';

/** How long Temporal may take for each of two questions, in milliseconds: the log can be checked without it. */
const PATIENCE_MS = 2_000;

/** What Temporal has heard of a session. Where it, or a worker, does not answer, that is nothing. */
export async function witnessOf(temporal: Temporal, session: string): Promise<Witness> {
  const handle = temporal.client.workflow.getHandle(session);
  try {
    const { status, type } = await temporal.call(() => handle.describe(), PATIENCE_MS);
    if (type !== SESSION_WORKFLOW) return { lastSeq: null, isOver: false };
    if (status.name === 'COMPLETED') return { lastSeq: null, isOver: true };
    const { lastSeq } = await temporal.call(() => handle.query<SessionStatus>(STATUS), PATIENCE_MS);
    return { lastSeq, isOver: false };
  } catch {
    return { lastSeq: null, isOver: false };
  }
}
