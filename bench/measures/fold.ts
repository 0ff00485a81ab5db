import { type Envelope, parseEnvelope } from '../../src/session/envelopes.ts';
import { fold } from '../../src/session/fold.ts';
import type { Bench } from '../bench.ts';
import { alone, atMost, type Figure } from '../figures.ts';

const ENVELOPES = 100_000;

/** Folding a long log in memory (F1). */
export async function measureFold(bench: Bench): Promise<Figure[]> {
  bench.say('fold');
  const log = longLog();
  const times: number[] = [];
  for (let run = 0; run < 7; run++) {
    const began = performance.now();
    fold(log);
    times.push(performance.now() - began);
  }
  return [
    alone(`fold of ${ENVELOPES.toLocaleString('en')} envelopes`, 'fold', 'ms', times, (ms) => atMost(ms, 500, ' ms')),
  ];
}

const session = 'long';
const root = `${session}/root-1`;
const digest = `sha256:${'0'.repeat(64)}`;
const ref = { digest, bytes: 1_000 };

const opening: Pick<Envelope, 'type' | 'data'>[] = [
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
function stepOf(node: number): Pick<Envelope, 'type' | 'data'>[] {
  const call = { call: `${node}.0`, tool: 'note', class: 'effect', key: `sha256:${node}` } as const;
  const usage = { inputTokens: 300, outputTokens: 250 };
  return [
    { type: 'GenerationCompleted', data: { node, model: 'm', finish: 'tool-calls', usage, served: 'fresh', ref } },
    { type: 'ToolCallStarted', data: { ...call, args: digest } },
    { type: 'ToolCallCompleted', data: { ...call, outcome: 'ok', served: 'fresh', ref } },
    { type: 'AgentSnapshot', data: { ordinal: node, source: 'node', node, ref } },
  ];
}

function longLog(): Envelope[] {
  const events = [...opening];
  for (let node = 1; events.length < ENVELOPES; node++) events.push(...stepOf(node));
  return events.slice(0, ENVELOPES).map(({ type, data }, seq) => {
    const at = new Date(1_800_000_000_000 + seq).toISOString();
    return parseEnvelope({ v: 1, session, seq, id: `e${seq}`, at, type, agent: root, data }, seq);
  });
}
