import { z } from 'zod';
import { LogUnreadableError } from './error.ts';
import type { JsonObject } from './json.ts';

/** A reference to a body: where its bytes can be found and what they must hash to. */
export const bodyRef = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  bytes: z.int().min(0),
});
export type BodyRef = z.infer<typeof bodyRef>;

/** Tokens and money of one generation; absent means 0. */
export const usage = z.object({
  inputTokens: z.number().min(0).optional(),
  outputTokens: z.number().min(0).optional(),
  costUsd: z.number().min(0).optional(),
});
export type Usage = z.infer<typeof usage>;

const id = z.string().min(1);
const agentRef = z.string().regex(/^[^/]+\/[^/]+-\d+(\.r\d+)?$/u, 'not an AgentRef (<session>/<role>-<n>)');
const count = z.int().min(0);
const ordinal = z.int().min(1);
const digest = z.string().min(1);
const jsonObject = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'not an object',
);

export const phases = ['born', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'exhausted'] as const;
export const terminalPhases = ['completed', 'failed', 'cancelled', 'exhausted'] as const;
export const toolClasses = ['read', 'effect', 'orchestrator'] as const;
export const callOutcomes = ['ok', 'error', 'denied', 'unknown'] as const;
export const snapshotSources = ['node', 'reset', 'explicit', 'release'] as const;
export const pauseKinds = ['approval', 'question', 'in-doubt', 'budget', 'operator'] as const;
export const durabilities = ['checkpointed', 'replayable'] as const;
const served = z.enum(['fresh', 'journal']);

export type Phase = (typeof phases)[number];
export type TerminalPhase = (typeof terminalPhases)[number];
export type ToolClass = (typeof toolClasses)[number];
export type CallOutcome = (typeof callOutcomes)[number];
export type SnapshotSource = (typeof snapshotSources)[number];
export type PauseKind = (typeof pauseKinds)[number];
export type Durability = (typeof durabilities)[number];

export const isTerminalPhase = (phase: Phase): phase is TerminalPhase =>
  (terminalPhases as readonly Phase[]).includes(phase);

const pin = z.looseObject({ kind: z.enum(['bundle', 'catalog']), digest: bodyRef.shape.digest });
export type Pin = z.infer<typeof pin>;

const born = z.object({
  phase: z.literal('born'),
  parent: agentRef.nullable(),
  role: id,
  task: id.nullable(),
  config: jsonObject,
  replaces: agentRef.nullable(),
});
const alive = <P extends Phase>(phase: P) => z.object({ phase: z.literal(phase) });
const ended = <P extends TerminalPhase>(phase: P) =>
  z.object({
    phase: z.literal(phase),
    reason: z.string().optional(),
    detail: bodyRef.optional(),
    output: bodyRef.optional(),
  });
const lifecycle = z.discriminatedUnion('phase', [
  born,
  alive('running'),
  alive('waiting'),
  ended('completed'),
  ended('failed'),
  ended('cancelled'),
  ended('exhausted'),
]);

const data = {
  SessionStarted: z.object({
    goal: z.string(),
    root: agentRef,
    namespace: id,
    taskQueue: id,
    shape: jsonObject,
    pin,
    durability: z.enum(durabilities),
    forkOf: jsonObject.optional(),
  }),
  SessionResumed: z.object({
    resume: ordinal,
    cause: z.enum(['boot-scan', 'operator']),
    checkpoint: count.nullable(),
    effects: z.enum(['reuse', 'rerun']),
    /** The first run of the workflow that goes on: two that would take up the same resume are told apart by it (R5). */
    run: z.string().optional(),
  }),
  AgentLifecycle: lifecycle,
  AgentSnapshot: z.object({ ordinal: count, source: z.enum(snapshotSources), node: count, ref: bodyRef }),
  /** `run` is the workflow's: two runs that raise the same fence are told apart by it (W4). */
  AgentResuming: z.object({ epoch: ordinal, snapshot: count.nullable(), run: z.string().optional() }),
  AgentResumed: z.object({ epoch: ordinal }),
  GenerationCompleted: z.object({ node: count, model: z.string(), finish: z.string(), usage, served, ref: bodyRef }),
  ToolCallStarted: z.object({
    call: id,
    tool: id,
    class: z.enum(toolClasses),
    key: digest,
    args: digest.optional(),
  }),
  ToolCallCompleted: z.object({
    call: id,
    tool: id,
    class: z.enum(toolClasses),
    key: digest,
    outcome: z.enum(callOutcomes),
    served,
    ref: bodyRef,
  }),
  Applied: z.looseObject({ op: id, key: id }),
  CoordinatorCheckpoint: z.object({ ordinal: count, kind: id, blob: z.string() }),
  JobStarted: z.object({ job: id, call: id, tool: id }),
  JobFinished: z.object({ job: id, outcome: z.string(), ref: bodyRef.optional() }),
  PauseRaised: z.object({
    pause: id,
    kind: z.enum(pauseKinds),
    call: id.nullish(),
    accepts: z.array(z.string()),
    /** The tool of the call, its key, and a body with what a person needs to decide (arguments, evidence). */
    tool: id.optional(),
    key: digest.optional(),
    ref: bodyRef.optional(),
  }),
  PauseAnswered: z.object({ pause: id, decision: id, by: z.string().optional(), ref: bodyRef.optional() }),
  AnswerRefused: z.object({ pause: z.string(), why: z.string() }),
  PositionReported: z.object({ era: count, firstCallSeq: z.union([count, z.string().regex(/^\d+$/)]), ref: bodyRef }),
  RuntimeEvicted: z.object({ era: count }),
  RuntimeRestored: z.object({ era: count, replayed: count }),
} as const;

export type EventType = keyof typeof data;

const agentOf = {
  SessionStarted: agentRef.nullable(),
  SessionResumed: agentRef.nullable(),
  AgentLifecycle: agentRef,
  AgentSnapshot: agentRef,
  AgentResuming: agentRef,
  AgentResumed: agentRef,
  GenerationCompleted: agentRef,
  ToolCallStarted: agentRef,
  ToolCallCompleted: agentRef,
  Applied: agentRef.nullable(),
  CoordinatorCheckpoint: agentRef.nullable(),
  JobStarted: agentRef.nullable(),
  JobFinished: agentRef.nullable(),
  PauseRaised: agentRef.nullable(),
  PauseAnswered: agentRef.nullable(),
  AnswerRefused: agentRef.nullable(),
  PositionReported: agentRef.nullable(),
  RuntimeEvicted: agentRef.nullable(),
  RuntimeRestored: agentRef.nullable(),
} as const satisfies Record<EventType, z.ZodType<string | null>>;

/** Who wrote an envelope: the resume and the agent's dispatch epoch it acted under (W4). */
export const writer = z.object({ resume: count, epoch: count });
export type Writer = z.infer<typeof writer>;

const head = {
  v: z.literal(1),
  session: id,
  seq: count,
  id,
  at: z.iso.datetime(),
  writer: writer.optional(),
};

const schemaOf = <T extends EventType>(type: T) =>
  z.object({ ...head, type: z.literal(type), agent: agentOf[type], data: data[type] });

const schemas = Object.fromEntries(
  (Object.keys(data) as EventType[]).map((type) => [type, schemaOf(type)]),
) as unknown as { [T in EventType]: ReturnType<typeof schemaOf<T>> };

export type EventData<T extends EventType> = z.infer<(typeof data)[T]>;

/** One envelope of the log, of the given type. */
export type EnvelopeOf<T extends EventType> = {
  [K in T]: {
    v: 1;
    session: string;
    seq: number;
    id: string;
    /** ISO 8601, UTC. */
    at: string;
    type: K;
    agent: z.infer<(typeof agentOf)[K]>;
    writer?: Writer | undefined;
    data: EventData<K>;
  };
}[T];
export type Envelope = EnvelopeOf<EventType>;

/** What happened, before it has a place in a log. */
export type EventDraft<T extends EventType = EventType> = {
  [K in T]: Pick<EnvelopeOf<K>, 'id' | 'type' | 'agent' | 'data'>;
}[T];

const isEventType = (type: unknown): type is EventType => typeof type === 'string' && Object.hasOwn(data, type);

/**
 * Reads one envelope, failing closed (L8): an unknown `v` or type, or a field that does not fit, is a
 * {@link LogUnreadableError}. Unknown fields are dropped.
 *
 * @param place the seq to name where the value has none of its own.
 */
export function parseEnvelope(value: unknown, place = 0): Envelope {
  const row = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const session = typeof row['session'] === 'string' ? row['session'] : null;
  const seq = count.safeParse(row['seq']).data ?? place;
  if (row['v'] !== 1) throw new LogUnreadableError(session, seq, `unknown version ${JSON.stringify(row['v'])}`);
  const type = row['type'];
  if (!isEventType(type)) throw new LogUnreadableError(session, seq, `unknown type ${JSON.stringify(type)}`);
  const parsed = schemas[type].safeParse(value);
  if (!parsed.success) throw new LogUnreadableError(session, seq, `${type}: ${z.prettifyError(parsed.error)}`);
  return parsed.data as Envelope;
}
