import type { PinRow } from '../../src/ports/pins.ts';
import type { BodyRow, BodyTable, ClaimRow, EventRow, EvidenceRow } from '../../src/ports/store.ts';
import { bodyOf } from '../../src/session/digest.ts';
import type { BodyRef, Envelope, EnvelopeOf } from '../../src/session/envelopes.ts';

let sessions = 0;

/** A session id that no other test uses. */
export const newSession = (): string => `s-${process.pid}-${Date.now()}-${sessions++}`;

export const time = (second: number): string => new Date(Date.UTC(2026, 10, 30, 10, 0, second)).toISOString();

/** A generation at a place in the log, written by the first dispatch of the session's root. */
export function generation(
  session: string,
  seq: number,
  more: Partial<EnvelopeOf<'GenerationCompleted'>> = {},
): Envelope {
  return {
    v: 1,
    session,
    seq,
    id: `gen/${session}/root-1/0.0/${seq}`,
    at: time(seq),
    type: 'GenerationCompleted',
    agent: `${session}/root-1`,
    writer: { resume: 0, epoch: 0 },
    data: {
      node: seq,
      model: 'rehearsal',
      finish: 'stop',
      usage: { inputTokens: 3, outputTokens: 5, costUsd: 0.25 },
      served: 'fresh',
      ref: bodyOf({ seq }).ref,
    },
    ...more,
  };
}

export function started(session: string, at = time(0), goal = 'Sort the incidents.'): Envelope {
  return {
    v: 1,
    session,
    seq: 0,
    id: 'started',
    at,
    type: 'SessionStarted',
    agent: `${session}/root-1`,
    data: {
      goal,
      root: `${session}/root-1`,
      namespace: 'default',
      taskQueue: 'apomesh',
      shape: { kind: 'solo' },
      pin: { kind: 'catalog', digest: bodyOf('pin').ref.digest },
      durability: 'checkpointed',
    },
  };
}

export const event = (envelope: Envelope): EventRow => ({ into: 'events', envelope });

/** A log of `length` events. */
export const log = (session: string, length: number): EventRow[] =>
  Array.from({ length }, (_, seq) => event(seq === 0 ? started(session) : generation(session, seq)));

/** A whole log, of a session that failed. */
export function ended(session: string): EventRow[] {
  const agent = `${session}/root-1`;
  const born = { phase: 'born', parent: null, role: 'root', task: null, config: {}, replaces: null } as const;
  const phase = (seq: number, id: string, data: EnvelopeOf<'AgentLifecycle'>['data']): EventRow =>
    event({ v: 1, session, seq, id: `${id}/${agent}`, at: time(seq), type: 'AgentLifecycle', agent, data });
  return [
    event(started(session)),
    phase(1, 'born', born),
    event(generation(session, 2)),
    phase(3, 'end', { phase: 'failed', reason: 'diverged' }),
  ];
}

export const body = (session: string, value: unknown, into: BodyTable = 'messages'): BodyRow => ({
  into,
  session,
  ...bodyOf(value),
});

export const pinned = (value: unknown): PinRow => ({ into: 'pins', ...bodyOf(value) });

export const claim = (session: string, more: Partial<ClaimRow> = {}): ClaimRow => ({
  into: 'dispatches',
  session,
  agent: `${session}/root-1`,
  resume: 0,
  epoch: 0,
  slice: 0,
  worker: 'w-1',
  claimant: 'try-1',
  ...more,
});

export const evidence = (session: string, id: string, more: Partial<EvidenceRow> = {}): EvidenceRow => ({
  into: 'effects',
  id: `${session}/${id}`,
  session,
  agent: `${session}/root-1`,
  call: 'call-1',
  tool: 'append',
  key: 'sha256:k1',
  epoch: 0,
  outcome: 'ok',
  json: '{"line":1}',
  at: time(1),
  ...more,
});

export const unknownRef: BodyRef = bodyOf('a body that nobody ever wrote').ref;
