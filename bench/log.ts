import { type Envelope, parseEnvelope } from '../src/session/envelopes.ts';

const digest = `sha256:${'0'.repeat(64)}`;
const ref = { digest, bytes: 1_000 };

type Event = Pick<Envelope, 'type' | 'data'>;

const openingOf = (root: string): Event[] => [
  {
    type: 'SessionStarted',
    data: {
      ...{ goal: 'g', root, namespace: 'default', taskQueue: 'apomesh', shape: {} },
      pin: { kind: 'catalog', digest },
      durability: 'checkpointed',
    },
  },
  {
    type: 'AgentLifecycle',
    data: { phase: 'born', parent: null, role: 'root', task: null, config: {}, replaces: null },
  },
  { type: 'AgentLifecycle', data: { phase: 'running' } },
];

/** The events of one step, as a session logs them. */
function stepOf(node: number): Event[] {
  const call = { call: `${node}.0`, tool: 'note', class: 'effect', key: `sha256:${node}` } as const;
  const usage = { inputTokens: 300, outputTokens: 250 };
  return [
    { type: 'GenerationCompleted', data: { node, model: 'm', finish: 'tool-calls', usage, served: 'fresh', ref } },
    { type: 'ToolCallStarted', data: { ...call, args: digest } },
    { type: 'ToolCallCompleted', data: { ...call, outcome: 'ok', served: 'fresh', ref } },
    { type: 'AgentSnapshot', data: { ordinal: node, source: 'node', node, ref } },
  ];
}

/** A log of so many events, of a session that goes on or one that has completed. */
export function logOf(session: string, length: number, isOver = false): Envelope[] {
  const root = `${session}/root-1`;
  const events = openingOf(root);
  for (let node = 1; events.length < length; node++) events.push(...stepOf(node));
  const kept = events.slice(0, isOver ? length - 1 : length);
  if (isOver) kept.push({ type: 'AgentLifecycle', data: { phase: 'completed', output: ref } });
  return kept.map(({ type, data }, seq) => {
    const at = new Date(1_800_000_000_000 + seq).toISOString();
    return parseEnvelope({ v: 1, session, seq, id: `e${seq}`, at, type, agent: root, data }, seq);
  });
}
