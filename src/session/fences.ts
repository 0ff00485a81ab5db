import { type Envelope, isTerminalPhase, type TerminalPhase, type Writer } from './envelopes.ts';

/** What a log says of who may still append to it (W4, F3), as far as it has been read. */
export interface Fences {
  readonly session: string;
  /** The latest SessionResumed's count; 0 before any. */
  readonly resumes: number;
  /** AgentRef; null where none is known yet. */
  readonly root: string | null;
  /** The root's phase once that is terminal: then nobody may append. */
  readonly terminal: TerminalPhase | null;
  /** The latest AgentResuming of each agent that has any: its epoch, and the resume under which it was logged. */
  readonly dispatches: ReadonlyMap<string, Writer>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Before anything was read. */
export const noFences = (session: string): Fences => ({
  session,
  resumes: 0,
  root: null,
  terminal: null,
  dispatches: new Map(),
});

/** Takes the next envelope into the fences, in place, O(1). That it fits the log is for the fold to check. */
export function advance(fences: Fences, envelope: Envelope): void {
  const own = fences as Mutable<Fences> & { dispatches: Map<string, Writer> };
  switch (envelope.type) {
    case 'SessionStarted':
      own.root = envelope.data.root;
      break;
    case 'SessionResumed':
      own.resumes = Math.max(own.resumes, envelope.data.resume);
      break;
    case 'AgentResuming':
      own.dispatches.set(envelope.agent, { resume: own.resumes, epoch: envelope.data.epoch });
      break;
    case 'AgentLifecycle': {
      const { agent, data } = envelope;
      if (data.phase === 'born') own.root ??= data.parent === null ? agent : null;
      else if (agent === own.root && isTerminalPhase(data.phase)) own.terminal = data.phase;
      break;
    }
    default:
      break;
  }
}

/**
 * Whether the log holds a higher (resume, epoch) for an agent than its writer's, so that the writer must stop (W4).
 *
 * @param agent AgentRef, or null for the coordinator, which only a resume fences.
 */
export function isFenced(fences: Fences, agent: string | null, writer: Writer): boolean {
  if (writer.resume < fences.resumes) return true;
  const latest = agent === null ? undefined : fences.dispatches.get(agent);
  return latest !== undefined && writer.resume === latest.resume && writer.epoch < latest.epoch;
}
