import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '@temporalio/client';
import type { SessionHandle } from '../../../src/client/handle.ts';
import { ApomeshError } from '../../../src/contract/errors.ts';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { fold } from '../../../src/session/fold.ts';
import type { SessionView } from '../../../src/session/view.ts';
import type { PlannedSession } from './plan.ts';

const AGAIN_MS = 300;

const TEMPORALS = "an error of Temporal's client";

/** What people were told when they acted while things went wrong, with how often. */
export class Troubles {
  readonly counts: Record<string, number> = {};
  /** Errors that say nothing to a program: they have no code. */
  readonly untyped: string[] = [];

  note(act: string, error: unknown): void {
    const code =
      error instanceof ApomeshError && /^[A-Z_]+$/.test(error.code)
        ? error.code
        : error instanceof ServiceError
          ? TEMPORALS
          : 'untyped';
    // What is asked of Temporal by its own client is answered by that.
    if (code === 'untyped' || (code === TEMPORALS && act !== 'terminate'))
      this.untyped.push(`${act}: ${error instanceof Error ? error.stack : String(error)}`);
    this.counts[`${act}: ${code}`] = (this.counts[`${act}: ${code}`] ?? 0) + 1;
  }
}

/** An answer that a person was told is accepted. */
export interface AcceptedAnswer {
  readonly pause: string;
  readonly decision: string;
}

/** One session, as those outside see it. */
export class Case {
  readonly planned: PlannedSession;
  readonly session: SessionHandle;
  /** The log as an observer saw it come. */
  readonly seen: Envelope[] = [];
  readonly accepted: AcceptedAnswer[] = [];
  /** The observer saw its end. */
  isOver = false;

  constructor(planned: PlannedSession, session: SessionHandle) {
    this.planned = planned;
    this.session = session;
  }

  get id(): string {
    return this.planned.id;
  }

  get view(): SessionView {
    return fold(this.seen);
  }

  /** Follows the log to the session's end, whatever happens meanwhile. */
  async follow(troubles: Troubles, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.isOver) {
      try {
        for await (const envelope of this.session.tail({ from: this.seen.length, signal })) this.seen.push(envelope);
        this.isOver = !signal.aborted;
      } catch (error) {
        troubles.note('follow', error);
        await sleep(AGAIN_MS);
      }
    }
  }
}
