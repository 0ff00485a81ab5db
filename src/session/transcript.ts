import type { BodyRef, CallOutcome, Envelope, EnvelopeOf, Phase, TerminalPhase } from './envelopes.ts';

/** A message of a conversation, by reference, in the order it was logged. */
export type MessageRef =
  | { readonly of: 'generation'; readonly node: number; readonly ref: BodyRef }
  | {
      readonly of: 'result';
      readonly call: string;
      readonly tool: string;
      readonly outcome: CallOutcome;
      readonly ref: BodyRef;
    };

/** An agent's end, as logged. */
export interface Ended {
  readonly phase: TerminalPhase;
  readonly reason: string | null;
  readonly output: BodyRef | null;
}

/** What a worker must know of one agent to drive it: body-free, and folded from the log alone. */
export interface AgentTranscript {
  readonly agent: string;
  phase: Phase;
  /** How it ended, once it has. */
  ending: Ended | null;
  epoch: number;
  /** Epoch that AgentResumed has not closed yet. */
  resuming: boolean;
  /** `at` of the latest fence (AgentResuming or SessionResumed), or null. */
  fencedAt: string | null;
  snapshot: EnvelopeOf<'AgentSnapshot'>['data'] | null;
  /** The latest snapshot of a node boundary: where the loop is recovered from, with the tail. */
  boundary: EnvelopeOf<'AgentSnapshot'>['data'] | null;
  readonly messages: MessageRef[];
  /** Events since the latest node boundary: at most a node's. */
  tail: Envelope[];
  /** Open pauses in the order raised. */
  readonly pauses: Map<string, EnvelopeOf<'PauseRaised'>['data']>;
}

/** What a worker must know of a session. */
export interface SessionTranscript {
  started: EnvelopeOf<'SessionStarted'> | null;
  lastSeq: number;
  /** Ordinal of the coordinator's latest checkpoint (C3), or null. */
  checkpoint: number | null;
  readonly agents: Map<string, AgentTranscript>;
  /** Ids of all pauses that were answered. */
  readonly answered: Set<string>;
  /** What orchestrator tools have done, by the keys of their calls (E6). */
  readonly applied: Map<string, EnvelopeOf<'Applied'>['data']>;
}

export const emptyTranscript = (): SessionTranscript => ({
  started: null,
  lastSeq: -1,
  checkpoint: null,
  agents: new Map(),
  answered: new Set(),
  applied: new Map(),
});

const newAgent = (agent: string): AgentTranscript => ({
  agent,
  phase: 'born',
  ending: null,
  epoch: 0,
  resuming: false,
  fencedAt: null,
  snapshot: null,
  boundary: null,
  messages: [],
  tail: [],
  pauses: new Map(),
});

/** Takes the next envelope into a transcript, in place and in O(1). */
export function follow(transcript: SessionTranscript, event: Envelope): void {
  transcript.lastSeq = event.seq;
  if (event.type === 'SessionStarted') transcript.started = event;
  if (event.type === 'SessionResumed') for (const agent of transcript.agents.values()) agent.fencedAt = event.at;
  if (event.type === 'CoordinatorCheckpoint') transcript.checkpoint = event.data.ordinal;
  if (event.type === 'PauseAnswered') transcript.answered.add(event.data.pause);
  if (event.type === 'Applied' && !transcript.applied.has(event.data.key))
    transcript.applied.set(event.data.key, event.data);
  if (event.agent === null) return;
  let agent = transcript.agents.get(event.agent);
  if (!agent) {
    if (event.type !== 'AgentLifecycle') return;
    agent = newAgent(event.agent);
    transcript.agents.set(event.agent, agent);
  }
  followAgent(agent, event);
}

function followAgent(agent: AgentTranscript, event: Envelope): void {
  agent.tail.push(event);
  switch (event.type) {
    case 'AgentLifecycle':
      followPhase(agent, event.data);
      break;
    case 'AgentResuming':
      agent.epoch = event.data.epoch;
      agent.resuming = true;
      agent.fencedAt = event.at;
      break;
    case 'AgentResumed':
      agent.resuming = false;
      break;
    case 'AgentSnapshot':
      agent.snapshot = event.data;
      if (event.data.source !== 'node') break;
      agent.boundary = event.data;
      agent.tail = [];
      break;
    case 'GenerationCompleted':
      agent.messages.push({ of: 'generation', node: event.data.node, ref: event.data.ref });
      break;
    case 'ToolCallCompleted': {
      const { call, tool, outcome, ref } = event.data;
      agent.messages.push({ of: 'result', call, tool, outcome, ref });
      break;
    }
    case 'PauseRaised':
      agent.pauses.set(event.data.pause, event.data);
      break;
    case 'PauseAnswered':
      agent.pauses.delete(event.data.pause);
      break;
    default:
  }
}

function followPhase(agent: AgentTranscript, data: EnvelopeOf<'AgentLifecycle'>['data']): void {
  agent.phase = data.phase;
  if (data.phase === 'born' || data.phase === 'running' || data.phase === 'waiting') return;
  agent.resuming = false;
  agent.ending = { phase: data.phase, reason: data.reason ?? null, output: data.output ?? null };
}
