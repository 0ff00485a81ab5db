import type { StoredGeneration } from '../agent/generation.ts';
import type { Stores } from '../ports/store.ts';
import { bodyDigest } from '../session/digest.ts';
import type { BodyRef, CallOutcome, Envelope, EnvelopeOf } from '../session/envelopes.ts';
import type { Json } from '../session/json.ts';

/** An effect that a session has begun, as its log has it. An effect that never began (denied, refused) is none. */
export interface Effect {
  /** Where its latest intent is on the log. */
  readonly seq: number;
  /** When, ISO 8601. */
  readonly at: string;
  /** AgentRef. */
  readonly agent: string;
  readonly call: string;
  readonly tool: string;
  /** Effect key (E2): one effect has one. */
  readonly key: string;
  /** How often it was begun: more than once only where a tool is `idempotent` or somebody said that it had not happened. */
  readonly begun: number;
  /** Null while it has none: it runs, or its worker was lost. */
  readonly outcome: CallOutcome | null;
  /** The open pause that asks what became of it; null where nobody is asked. */
  readonly inDoubt: string | null;
}

/** What a worker that had lost its agent still brought back: evidence, never served (E4). */
export interface LateEvidence {
  readonly epoch: number;
  readonly outcome: string;
  readonly result: Json;
  readonly at: string;
}

/** An effect with what it was asked, and what it gave. */
export interface EffectRecord extends Effect {
  /** The arguments that ran: the model's, or as a person edited them. */
  readonly args: Json;
  /** What the tool gave, or the error that the agent was told; null while there is no outcome. */
  readonly result: Json;
  readonly late: readonly LateEvidence[];
}

type Started = EnvelopeOf<'ToolCallStarted'>;

/** The effects that a log has begun, in the order of their first intents. No body is read. */
export function effectsOf(log: readonly Envelope[]): Effect[] {
  const intents = new Map<string, Started[]>();
  const outcomes = new Map<string, CallOutcome>();
  const doubts = new Map<string, string>();
  for (const event of log) {
    if (event.type === 'ToolCallStarted' && event.data.class === 'effect')
      intents.set(event.data.key, [...(intents.get(event.data.key) ?? []), event]);
    if (event.type === 'ToolCallCompleted' && !outcomes.has(event.data.key))
      outcomes.set(event.data.key, event.data.outcome);
    if (event.type === 'PauseRaised' && event.data.kind === 'in-doubt')
      doubts.set(event.data.pause, event.data.key ?? '');
    if (event.type === 'PauseAnswered') doubts.delete(event.data.pause);
  }
  const asked = new Map([...doubts].map(([pause, key]) => [key, pause]));
  return [...intents].flatMap(([key, begun]) => {
    const last = begun.at(-1);
    if (!last) return [];
    const { seq, at, agent, data } = last;
    const { call, tool } = data;
    const outcome = outcomes.get(key) ?? null;
    return [{ seq, at, agent, call, tool, key, begun: begun.length, outcome, inDoubt: asked.get(key) ?? null }];
  });
}

/** The effects of a log with their bodies and what came late. @throws {BodyMissingError} */
export async function effectRecords(
  stores: Pick<Stores, 'load' | 'evidence'>,
  session: string,
  log: readonly Envelope[],
): Promise<EffectRecord[]> {
  const effects = effectsOf(log);
  const evidence = effects.length === 0 ? [] : await stores.evidence(session);
  const load = async (table: 'bodies' | 'messages', ref: BodyRef): Promise<Json> => {
    const [json = 'null'] = await stores.load(session, table, [ref]);
    return JSON.parse(json);
  };
  const records: EffectRecord[] = [];
  for (const effect of effects) {
    const completed = log.find((event) => event.type === 'ToolCallCompleted' && event.data.key === effect.key) as
      | EnvelopeOf<'ToolCallCompleted'>
      | undefined;
    const late = evidence.filter(({ key }) => key === effect.key);
    records.push({
      ...effect,
      args: await argumentsOf(load, log, effect),
      result: completed ? await load('messages', completed.data.ref) : null,
      late: late.map(({ epoch, outcome, json, at }) => ({ epoch, outcome, result: JSON.parse(json), at })),
    });
  }
  return records;
}

type Load = (table: 'bodies' | 'messages', ref: BodyRef) => Promise<Json>;

/** The arguments of an intent: those a person edited, else the model's. The intent's digest says which ran (E2). */
async function argumentsOf(load: Load, log: readonly Envelope[], { seq, agent, call, key }: Effect): Promise<Json> {
  const before = log.filter((event) => event.seq < seq);
  const digest = (log.find((event) => event.seq === seq) as Started).data.args;
  const isTheOne = (args: Json) => digest === undefined || bodyDigest(args) === digest;
  const edit = before.findLast(
    (event): event is EnvelopeOf<'PauseAnswered'> =>
      event.type === 'PauseAnswered' &&
      event.data.decision === 'edit' &&
      before.some(({ type, data }) => type === 'PauseRaised' && data.pause === event.data.pause && data.key === key),
  );
  const edited = edit?.data.ref ? ((await load('bodies', edit.data.ref)) as { args?: Json }).args : undefined;
  if (edited !== undefined && isTheOne(edited)) return edited;
  const node = Number(call.split('.')[0]);
  const generation = before.findLast(
    (event): event is EnvelopeOf<'GenerationCompleted'> =>
      event.type === 'GenerationCompleted' && event.agent === agent && event.data.node === node,
  );
  if (!generation) return null;
  const { calls } = (await load('messages', generation.data.ref)) as unknown as StoredGeneration;
  const args = calls.find((one) => one.call === call)?.input ?? null;
  return isTheOne(args) ? args : null;
}
