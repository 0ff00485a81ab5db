import type { Envelope, Usage } from '../session/envelopes.ts';
import { harmless, styled } from './terminal.ts';

const SEQ_WIDTH = 5;
const TYPE_WIDTH = 19;

type Style = Parameters<typeof styled>[0];

/** One envelope on one line: seq, time, agent, type, and the few fields that matter. */
export function eventLine(event: Envelope): string {
  const seq = String(event.seq).padStart(SEQ_WIDTH);
  const agent = event.agent === null ? '-' : event.agent.slice(event.agent.lastIndexOf('/') + 1);
  const type = styled(styleOf(event), event.type.padEnd(TYPE_WIDTH));
  return `${styled('dim', `${seq} ${event.at.slice(11, 23)}`)} ${harmless(agent)} ${type} ${harmless(fieldsOf(event))}`.trimEnd();
}

function styleOf({ type, data }: Envelope): Style {
  if (type === 'PauseRaised') return 'yellow';
  if (type === 'AgentResuming' || type === 'SessionResumed') return 'magenta';
  if (type === 'AnswerRefused') return 'red';
  if (type === 'ToolCallCompleted') return data.outcome === 'ok' ? 'green' : 'red';
  if (type === 'AgentLifecycle') return data.phase === 'failed' || data.phase === 'exhausted' ? 'red' : 'cyan';
  return 'reset';
}

function fieldsOf(event: Envelope): string {
  switch (event.type) {
    case 'SessionStarted': {
      const { shape, durability, taskQueue, pin } = event.data;
      return `${String(shape['agent'] ?? '')} ${durability} on ${taskQueue}, pin ${short(pin.digest)}`.trim();
    }
    case 'SessionResumed':
      return `resume ${event.data.resume} (${event.data.cause}), effects ${event.data.effects}`;
    case 'AgentLifecycle':
      return 'reason' in event.data && event.data.reason
        ? `${event.data.phase}: ${event.data.reason}`
        : event.data.phase;
    case 'AgentSnapshot':
      return `${event.data.ordinal} ${event.data.source} at node ${event.data.node}`;
    case 'AgentResuming':
      return `epoch ${event.data.epoch} from snapshot ${event.data.snapshot ?? 'none'}`;
    case 'AgentResumed':
      return `epoch ${event.data.epoch}`;
    case 'GenerationCompleted': {
      const { node, model, finish, usage, served } = event.data;
      return `node ${node} ${model} ${finish}, ${usageText(usage)}${served === 'journal' ? ', from the journal' : ''}`;
    }
    case 'ToolCallStarted':
      return `${event.data.call} ${event.data.tool} ${short(event.data.key)}`;
    case 'ToolCallCompleted': {
      const { call, tool, outcome, ref, served } = event.data;
      return `${call} ${tool} ${outcome}, ${ref.bytes} bytes${served === 'journal' ? ', from the journal' : ''}`;
    }
    case 'Applied':
      return `${event.data.op} ${short(event.data.key)}`;
    case 'CoordinatorCheckpoint':
      return `${event.data.ordinal} ${event.data.kind}`;
    case 'JobStarted':
      return `${event.data.job} ${event.data.tool}`;
    case 'JobFinished':
      return `${event.data.job} ${event.data.outcome}`;
    case 'PauseRaised': {
      const { pause, kind, tool, accepts } = event.data;
      return `${pause} ${kind}${tool === undefined ? '' : ` of ${tool}`}, accepts ${accepts.join(', ')}`;
    }
    case 'PauseAnswered':
      return `${event.data.pause} ${event.data.decision}${event.data.by === undefined ? '' : ` by ${event.data.by}`}`;
    case 'AnswerRefused':
      return `${event.data.pause}: ${event.data.why}`;
    case 'PositionReported':
      return `era ${event.data.era} from call ${event.data.firstCallSeq}`;
    case 'RuntimeEvicted':
      return `era ${event.data.era}`;
    case 'RuntimeRestored':
      return `era ${event.data.era}, ${event.data.replayed} calls replayed`;
    default:
      throw new TypeError(`unknown event ${JSON.stringify(event satisfies never)}`);
  }
}

/** `sha256:` and the first 8 digits. */
const short = (digest: string): string => digest.slice(0, 'sha256:'.length + 8);

/** Tokens and money of a generation. */
function usageText({ inputTokens = 0, outputTokens = 0, costUsd }: Usage): string {
  return `${inputTokens}+${outputTokens} tokens${costUsd === undefined ? '' : `, $${costUsd.toFixed(4)}`}`;
}
