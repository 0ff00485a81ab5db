import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import type { AnswerOptions } from '../../../src/client/answer.ts';
import type { ApomeshClient } from '../../../src/client/client.ts';
import { ApomeshError } from '../../../src/contract/errors.ts';
import type { EnvelopeOf } from '../../../src/session/envelopes.ts';
import type { Case, Troubles } from './case.ts';
import type { Ledger } from './ledger.ts';

const AGAIN_MS = 400;

export interface People {
  readonly apomesh: ApomeshClient;
  readonly client: Client;
  readonly ledger: Ledger;
  readonly troubles: Troubles;
  readonly cases: readonly Case[];
  readonly taskQueue: string;
  /** Aborted when there is nothing more to do. */
  readonly signal: AbortSignal;
}

const has = (error: unknown, ...codes: readonly string[]): boolean =>
  error instanceof ApomeshError && codes.includes(error.code);

/** Does something until it works, or cannot any more. */
async function insist(
  { troubles, signal }: People,
  act: string,
  attempt: () => Promise<unknown>,
  isMoot: (error: unknown) => boolean,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await attempt();
      return true;
    } catch (error) {
      if (isMoot(error)) return false;
      troubles.note(act, error);
      await sleep(AGAIN_MS);
    }
  }
  return false;
}

/** Starts a session, and tries until that is done; false where it was broken off before. */
export async function begin(people: People, one: Case): Promise<boolean> {
  const { id, planned } = one;
  const { agent, steps } = planned;
  const options = { agent, goal: JSON.stringify({ id, steps }), id, taskQueue: people.taskQueue };
  // A try before may have come as far as this.
  const isDone = (error: unknown) => has(error, 'SESSION_LIVE', 'SESSION_TERMINAL');
  await insist(people, 'start', () => people.apomesh.sessions.start(options), isDone);
  return !people.signal.aborted;
}

/** Ends a session before its time, where that is planned. */
export async function meddle(people: People, one: Case): Promise<void> {
  const { session, planned } = one;
  const { cancelAfterMs, terminateAfterMs } = planned;
  if (cancelAfterMs !== null) {
    await sleep(cancelAfterMs);
    const isMoot = (error: unknown) => has(error, 'SESSION_TERMINAL', 'SESSION_STOPPED');
    await insist(people, 'cancel', () => session.cancel('changed my mind'), isMoot);
  }
  if (terminateAfterMs !== null) {
    await sleep(terminateAfterMs);
    const workflow = people.client.workflow.getHandle(one.id);
    const isMoot = (error: unknown) => error instanceof WorkflowNotFoundError;
    await insist(people, 'terminate', () => workflow.terminate('enough'), isMoot);
  }
}

/** Answers what sessions ask, now and then carelessly. */
export async function answerAll(people: People): Promise<void> {
  const { cases, signal } = people;
  while (!signal.aborted) {
    const asked = cases.flatMap((one) => openOf(one).map((pause) => ({ one, pause })));
    await Promise.all(asked.map(({ one, pause }) => answer(people, one, pause)));
    await sleep(AGAIN_MS);
  }
}

type Raised = EnvelopeOf<'PauseRaised'>['data'];

function openOf(one: Case): Raised[] {
  if (one.isOver || one.seen.length === 0) return [];
  const open = new Set(one.view.pauses.map(({ pause }) => pause));
  return one.seen.flatMap(({ type, data }) => (type === 'PauseRaised' && open.has(data.pause) ? [data] : []));
}

async function answer({ ledger, troubles }: People, one: Case, { pause, kind, key = '' }: Raised): Promise<void> {
  if (Math.random() < 0.4) return;
  const given = kind === 'in-doubt' ? decideDoubt(ledger, key) : decideApproval();
  try {
    await one.session.answer(pause, { ...given, by: 'a person' });
    one.accepted.push({ pause, decision: given.decision });
  } catch (error) {
    troubles.note('answer', error);
  }
}

function decideApproval(): AnswerOptions {
  const fate = Math.random();
  if (fate < 0.15) return { decision: 'reject', reason: 'not now' };
  return fate < 0.25 ? { decision: 'edit', args: { item: 9 } } : { decision: 'approve' };
}

function decideDoubt(ledger: Ledger, key: string): AnswerOptions {
  const fate = Math.random();
  if (ledger.has(key) && fate > 0.15) return { decision: 'happened', result: { key } };
  return fate < 0.6 ? { decision: 'retry' } : { decision: 'fail', reason: 'nobody saw it' };
}

/** What an operator does: scans by hand now and then, and resumes what is listed, except where a person closed it. */
export async function operate(people: People): Promise<void> {
  const { apomesh, troubles, signal } = people;
  for (let round = 0; !signal.aborted; round += 1) {
    try {
      if (round % 4 === 3) await apomesh.recovery.scan();
      const listed = await apomesh.recovery.list();
      const wanted = listed.filter((entry) => entry.class !== 'closed');
      await Promise.all(wanted.map((entry) => resume(people, entry.session, entry.class === 'stuck')));
    } catch (error) {
      troubles.note('operate', error);
    }
    await sleep(AGAIN_MS * 5);
  }
}

async function resume({ apomesh, troubles }: People, session: string, takeover: boolean): Promise<void> {
  await apomesh.recovery.resume(session, { takeover }).catch((error: unknown) => troubles.note('resume', error));
}
