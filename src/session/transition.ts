import type { Draft } from './draft.ts';
import { type Envelope, type EnvelopeOf, isTerminalPhase } from './envelopes.ts';
import { bootstrapOf, noUsage } from './view.ts';

/**
 * Takes the next envelope into a draft: what each type of event means.
 *
 * @throws {LogUnreadableError} where it contradicts what came before it (L8). The draft is then of no use any more.
 */
export function transition(draft: Draft, envelope: Envelope): void {
  checkPlace(draft, envelope);
  checkAgent(draft, envelope);
  const { head } = draft;
  switch (envelope.type) {
    case 'SessionStarted':
      if (envelope.seq !== 0) draft.refuse('SessionStarted is not the first event');
      head.bootstrap = bootstrapOf(envelope);
      head.root = envelope.data.root;
      break;
    case 'SessionResumed':
      sessionResumed(draft, envelope);
      break;
    case 'AgentLifecycle':
      lifecycle(draft, envelope);
      break;
    case 'AgentSnapshot': {
      const { ordinal, source, node, ref } = envelope.data;
      draft.change(envelope.agent).snapshot = { ordinal, source, node, ref };
      break;
    }
    case 'AgentResuming':
      agentResuming(draft, envelope);
      break;
    case 'AgentResumed':
      agentResumed(draft, envelope);
      break;
    case 'GenerationCompleted':
      if (envelope.data.served === 'fresh') draft.addUsage(envelope.agent, envelope.data.usage);
      break;
    case 'ToolCallStarted':
      if (envelope.data.class === 'effect') draft.addEffect(envelope.data.key);
      break;
    case 'Applied':
      draft.addApplied(envelope.data.key);
      break;
    case 'CoordinatorCheckpoint':
      checkpoint(draft, envelope);
      break;
    case 'JobStarted':
      jobStarted(draft, envelope);
      break;
    case 'JobFinished':
      if (!draft.jobs.delete(envelope.data.job)) draft.refuse(`job ${envelope.data.job} finishes, and is not open`);
      break;
    case 'PauseRaised':
      pauseRaised(draft, envelope);
      break;
    case 'PauseAnswered':
      if (!draft.pauses.delete(envelope.data.pause)) {
        draft.refuse(`pause ${envelope.data.pause} is answered, and is not open`);
      }
      break;
    case 'ToolCallCompleted':
    case 'AnswerRefused':
    case 'PositionReported':
    case 'RuntimeEvicted':
    case 'RuntimeRestored':
      break;
    default:
      unknownType(draft, envelope);
  }
  head.lastSeq = envelope.seq;
}

function unknownType(draft: Draft, envelope: never): never {
  return draft.refuse(`unknown type ${JSON.stringify((envelope as Envelope).type)}`);
}

/** What every envelope must fit, whatever its type. */
function checkPlace(draft: Draft, envelope: Envelope): void {
  const { head } = draft;
  const expected = head.lastSeq + 1;
  if (head.lastSeq < 0) head.session = envelope.session;
  if (envelope.session !== head.session) draft.refuse(`the row is of another session, ${envelope.session}`);
  if (envelope.seq !== expected) draft.refuse(`expected seq ${expected}, found seq ${envelope.seq}`);
  if (envelope.v !== 1) draft.refuse(`unknown version ${JSON.stringify(envelope.v)}`);
  if (head.terminal) draft.refuse(`${envelope.type} comes after the terminal phase of the root agent`);
}

/** Nothing is heard of an agent before its birth, except that SessionStarted may name the root. */
function checkAgent(draft: Draft, envelope: Envelope): void {
  const { agent, type, data } = envelope;
  if (agent === null || draft.agent(agent) !== undefined) return;
  if (type === 'AgentLifecycle' && data.phase === 'born') return;
  if (type === 'SessionStarted' && data.root === agent) return;
  draft.refuse(`${type} of agent ${agent} comes before its birth`);
}

function sessionResumed(draft: Draft, { data }: EnvelopeOf<'SessionResumed'>): void {
  const expected = draft.head.resumes + 1;
  if (data.resume !== expected) draft.refuse(`expected resume ${expected}, found resume ${data.resume}`);
  draft.head.resumes = data.resume;
  draft.supersede();
}

function lifecycle(draft: Draft, { agent, data }: EnvelopeOf<'AgentLifecycle'>): void {
  const last = draft.agent(agent)?.phase;
  if (data.phase !== 'born' && last !== undefined && isTerminalPhase(last)) {
    draft.refuse(`agent ${agent} is ${data.phase} after it was ${last}`);
  }
  switch (data.phase) {
    case 'born':
      born(draft, agent, data);
      break;
    case 'running':
    case 'waiting':
      draft.change(agent).phase = data.phase;
      break;
    default:
      draft.endAgent(agent, data.phase, data.reason ?? null, data.output ?? null);
  }
}

type Birth = Extract<EnvelopeOf<'AgentLifecycle'>['data'], { phase: 'born' }>;

function born(draft: Draft, agent: string, data: Birth): void {
  const { role, task, parent, config, replaces } = data;
  if (draft.agent(agent) !== undefined) draft.refuse(`agent ${agent} is born a second time`);
  if (parent !== null && draft.agent(parent) === undefined) {
    draft.refuse(`agent ${agent} is born under ${parent}, which is not known`);
  }
  if (draft.head.root === null && parent === null) draft.head.root = agent;
  draft.addAgent({
    ref: agent,
    role,
    task,
    parent,
    children: [],
    replaces,
    superseded: false,
    phase: 'born',
    config,
    snapshot: null,
    epoch: 0,
    resuming: false,
    reason: null,
    output: null,
    usage: { ...noUsage },
  });
}

function agentResuming(draft: Draft, { agent, data }: EnvelopeOf<'AgentResuming'>): void {
  const changed = draft.change(agent);
  if (data.epoch <= changed.epoch) {
    draft.refuse(`epoch ${data.epoch} of agent ${agent} does not grow: it is at ${changed.epoch}`);
  }
  changed.epoch = data.epoch;
  changed.resuming = true;
}

function agentResumed(draft: Draft, { agent, data }: EnvelopeOf<'AgentResumed'>): void {
  const changed = draft.change(agent);
  if (!changed.resuming || data.epoch !== changed.epoch) {
    draft.refuse(`AgentResumed of agent ${agent}, epoch ${data.epoch}, has no AgentResuming before it`);
  }
  changed.resuming = false;
}

function checkpoint(draft: Draft, { seq, data }: EnvelopeOf<'CoordinatorCheckpoint'>): void {
  const { ordinal, kind, blob } = data;
  const last = draft.head.checkpoint;
  if (last !== null && ordinal <= last.ordinal) {
    draft.refuse(`checkpoint ordinal ${ordinal} does not grow: the last is ${last.ordinal}`);
  }
  draft.head.checkpoint = { seq, ordinal, kind, blob };
}

function jobStarted(draft: Draft, { agent, data }: EnvelopeOf<'JobStarted'>): void {
  const { job, call, tool } = data;
  if (draft.jobs.has(job)) draft.refuse(`job ${job} starts while it is open`);
  draft.jobs.add({ job, call, tool, agent });
  draft.head.sideEffects += 1;
}

function pauseRaised(draft: Draft, { agent, data }: EnvelopeOf<'PauseRaised'>): void {
  const { pause, kind, call = null, accepts } = data;
  if (draft.pauses.has(pause)) draft.refuse(`pause ${pause} is raised while it is open`);
  draft.pauses.add({ pause, kind, call, accepts, agent });
}
