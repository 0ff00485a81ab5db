import { isDeepStrictEqual } from 'node:util';
import type { Verification } from '../../../src/client/verify.ts';
import type { RecoverableEntry } from '../../../src/ports/store.ts';
import type { Envelope, EnvelopeOf } from '../../../src/session/envelopes.ts';
import { evolve, fold } from '../../../src/session/fold.ts';
import type { Acknowledged } from '../trap.ts';
import type { AcceptedAnswer } from './case.ts';
import { idempotent } from './config.ts';
import type { Deed } from './ledger.ts';
import type { PlannedSession } from './plan.ts';

/** All that there is to know of a session once everything is at rest. */
export interface Evidence {
  readonly planned: PlannedSession;
  readonly log: readonly Envelope[];
  readonly seen: readonly Envelope[];
  readonly acknowledged: readonly Acknowledged[];
  readonly accepted: readonly AcceptedAnswer[];
  readonly deeds: readonly Deed[];
  readonly listed: RecoverableEntry | null;
  readonly verification: Verification;
}

type Rule = (evidence: Evidence) => readonly string[];

/** What holds of every session, whatever went wrong, and what is broken where it does not. */
export const invariants: Readonly<Record<string, Rule>> = {
  'R2: terminal, or listed with its class': ({ log, listed }) => {
    const { terminal } = fold(log);
    if (terminal) return listed === null ? [] : [`it is over, and listed as ${listed.class}`];
    return listed?.class === 'closed'
      ? []
      : [`it is not over, and ${listed ? `listed as ${listed.class}` : 'not listed'}`];
  },
  'a session fails by nobody but itself': ({ log }) => {
    const last = log.at(-1);
    return last?.type === 'AgentLifecycle' && (last.data.phase === 'failed' || last.data.phase === 'exhausted')
      ? [`it is ${last.data.phase}: ${last.data.reason}`]
      : [];
  },
  'E3: verify finds nothing': ({ verification }) => verification.problems.map(({ message }) => message),
  'L5, L6: nothing that was acknowledged or seen is lost': ({ log, seen, acknowledged }) => [
    ...acknowledged.filter(({ seq, id }) => log[seq]?.id !== id).map(({ seq, id }) => `${id} was logged at ${seq}`),
    ...seen
      .filter((event) => !isDeepStrictEqual(event, log[event.seq]))
      .map(({ seq }) => `seq ${seq} was seen otherwise`),
  ],
  'F1: a prefix and the rest fold to the same': ({ log }) => {
    const whole = fold(log);
    const cuts = [0.25, 0.5, 0.75].map((part) => Math.floor(log.length * part));
    return cuts
      .filter((cut) => !isDeepStrictEqual(log.slice(cut).reduce(evolve, fold(log.slice(0, cut))), whole))
      .map((cut) => `cut at ${cut}`);
  },
  'E4: an effect happens at most once a key': ({ deeds, log }) =>
    [...countBy(deeds.filter(({ tool }) => !idempotent.has(tool)).map(({ key }) => key))]
      .filter(([key, times]) => times > 1 + retriesOf(log, key))
      .map(([key, times]) => `${key} happened ${times} times, with ${retriesOf(log, key)} retries asked for`),
  'E3: what happened had its intent logged before': ({ deeds, log }) =>
    deeds
      .filter(({ key, at }) => !startsOf(log, key).some((started) => started.at <= at))
      .map(({ key, at }) => `${key} happened at ${at} without one`),
  'E3: an outcome is recorded once': ({ log }) => {
    const fresh = outcomesOf(log).filter(({ served }) => served === 'fresh');
    return [...countBy(fresh.map(({ key }) => key))].filter(([, times]) => times > 1).map(([key]) => key);
  },
  'E3: what is recorded is what happened': ({ log, deeds }) => {
    const done = new Set(deeds.map(({ key }) => key));
    return outcomesOf(log)
      .filter(({ outcome, key }) => (outcome === 'ok' && !done.has(key)) || (outcome === 'denied' && done.has(key)))
      .map(({ key, outcome }) => `${key} is ${outcome}`);
  },
  'a session that completed has done all that it was asked': ({ planned, log }) => {
    const last = log.at(-1);
    if (last?.type !== 'AgentLifecycle' || last.data.phase !== 'completed') return [];
    const asked = planned.steps.flatMap(({ calls = [] }) => calls.map(({ tool }) => tool)).toSorted();
    const done = log.flatMap(({ type, data }) => (type === 'ToolCallCompleted' ? [data.tool] : [])).toSorted();
    return isDeepStrictEqual(asked, done) ? [] : [`${done.length} of ${asked.length} calls`];
  },
  'H3: an answer that was accepted stands': ({ log, accepted }) =>
    accepted
      .filter(({ pause, decision }) => answersOf(log, pause).at(0)?.decision !== decision)
      .map(({ pause, decision }) => `${decision} to ${pause}`),
};

/** What is broken, as lines that name session and rule. */
export function brokenBy(evidence: Evidence): string[] {
  return Object.entries(invariants).flatMap(([name, rule]) =>
    rule(evidence).map((what) => `${evidence.planned.id}: ${name}: ${what}`),
  );
}

export function countBy<T>(items: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1);
  return counts;
}

const outcomesOf = (log: readonly Envelope[]): EnvelopeOf<'ToolCallCompleted'>['data'][] =>
  log.flatMap(({ type, data }) => (type === 'ToolCallCompleted' && data.class === 'effect' ? [data] : []));

const startsOf = (log: readonly Envelope[], key: string): Envelope[] =>
  log.filter(({ type, data }) => type === 'ToolCallStarted' && data.key === key);

const answersOf = (log: readonly Envelope[], pause: string): EnvelopeOf<'PauseAnswered'>['data'][] =>
  log.flatMap(({ type, data }) => (type === 'PauseAnswered' && data.pause === pause ? [data] : []));

/** How often a person had an effect run again. */
function retriesOf(log: readonly Envelope[], key: string): number {
  const pauses = log.flatMap(({ type, data }) => (type === 'PauseRaised' && data.key === key ? [data.pause] : []));
  return pauses.flatMap((pause) => answersOf(log, pause)).filter(({ decision }) => decision === 'retry').length;
}
