import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import type { LoopState } from '../agent/loop.ts';
import { verifySession } from '../client/verify.ts';
import type { Stores } from '../ports/store.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import type { Envelope, EnvelopeOf } from '../session/envelopes.ts';
import { advance, isFenced, noFences } from '../session/fences.ts';
import { evolve, fold } from '../session/fold.ts';
import type { SessionView } from '../session/view.ts';
import type { Crew } from './crew.ts';
import type { GatedWorld, ToolRun } from './gated-world.ts';
import type { People } from './people.ts';
import type { Rescue } from './rescue.ts';
import type { Server } from './server.ts';
import type { Turns } from './turns.ts';
import type { Witness } from './witness.ts';

export interface Ended {
  readonly session: string;
  /** Added to a tool's time-out before it may run again. */
  readonly graceMs: number;
  readonly stores: Stores;
  readonly witness: Witness;
  readonly rescue: Rescue;
  readonly world: GatedWorld;
  readonly people: People;
  readonly crew: Crew;
  readonly server: Server;
  readonly turns: Turns;
}

/** What must hold whatever befell a session, and does not. */
export async function brokenBy(ended: Ended): Promise<string[]> {
  const { session, stores, witness } = ended;
  const log = await stores.read(session);
  const view = fold(log);
  const verified = await verifySession(stores, session);
  return [
    ...witness.broken,
    ...verified.problems.map(({ seq, code, message }) => `${code} at ${seq}: ${message}`),
    ...lost(witness, log),
    ...folds(log, view),
    ...writers(session, log),
    ...nodes(log),
    ...effects(ended, log),
    ...answers(ended, log),
    ...(await shown(ended, log)),
    ...(await spends(ended, log)),
    ...(await endings(ended, view)),
  ];
}

/** No event that was acknowledged is lost or altered. */
function lost({ events }: Witness, log: readonly Envelope[]): string[] {
  return events
    .filter((event) => canonicalJson(log[event.seq] ?? null) !== canonicalJson(event))
    .map(({ seq, id }) => `L6: ${id} was at ${seq}, and is not any more`);
}

/** A prefix and then the rest give the same as the whole (F1). */
function folds(log: readonly Envelope[], view: SessionView): string[] {
  const whole = canonicalJson(view);
  const cuts = [1, Math.floor(log.length / 3), Math.floor(log.length / 2), log.length - 1];
  return cuts
    .filter((cut) => canonicalJson(log.slice(cut).reduce(evolve, fold(log.slice(0, cut)))) !== whole)
    .map((cut) => `F1: folding ${cut} events and then the rest gives another view`);
}

const of = <T extends Envelope['type']>(log: readonly Envelope[], type: T): EnvelopeOf<T>[] =>
  log.filter((event) => event.type === type) as unknown as EnvelopeOf<T>[];

/** What only a dispatch of the agent logs. */
const OF_DISPATCHES: ReadonlySet<string> = new Set([
  'AgentSnapshot',
  'AgentResumed',
  'GenerationCompleted',
  'ToolCallStarted',
  'ToolCallCompleted',
  'PauseRaised',
]);

/** Nobody has logged anything after the fence that was raised against them (W4). */
function writers(session: string, log: readonly Envelope[]): string[] {
  const fences = noFences(session);
  return log.flatMap((event) => {
    const { seq, id, type, agent, writer } = event;
    const by = OF_DISPATCHES.has(type) ? agent : null;
    const isLate = writer !== undefined && isFenced(fences, by, writer);
    advance(fences, event);
    return isLate ? [`W4: ${id} at ${seq} is by ${writer.resume}.${writer.epoch}, which was fenced`] : [];
  });
}

/** One generation a node, in order, and one outcome a call (E3, E5). */
function nodes(log: readonly Envelope[]): string[] {
  const generated = of(log, 'GenerationCompleted').map(({ data }) => data.node);
  const settled = of(log, 'ToolCallCompleted').map(({ data }) => data.call);
  return [
    ...generated.filter((node, i) => node !== i + 1).map((node) => `E5: node ${node} is out of order`),
    ...settled.filter((call, i) => settled.indexOf(call) < i).map((call) => `E3: ${call} has two outcomes`),
  ];
}

/**
 * No effect is begun a second time, unless a person said that it may, the tool said that it had not happened, or it threw
 * and its retry policy let it (E4); or its tool honours keys.
 */
function effects({ world, graceMs }: Ended, log: readonly Envelope[]): string[] {
  const broken: string[] = [];
  const calls = new Map<string, string>();
  for (const { data } of of(log, 'ToolCallStarted')) calls.set(data.call, data.key);
  const pauses = new Map(of(log, 'PauseRaised').map(({ data }) => [data.pause, data.call]));
  const retried = of(log, 'PauseAnswered')
    .filter(({ data }) => data.decision === 'retry')
    .map(({ data }) => calls.get(pauses.get(data.pause) ?? ''));
  for (const key of new Set(world.runs.map((run) => run.key))) {
    const runs = world.runs.filter((run) => run.key === key);
    const [first] = runs;
    if (first === undefined || first.isRepeatable) continue;
    const allowed =
      1 +
      retried.filter((one) => one === key).length +
      world.asked.filter((asked) => asked.key === key && asked.happened === false).length +
      runs.filter(({ outcome }) => outcome === 'threw').length;
    for (const [i, run] of runs.slice(1).entries()) broken.push(...tooSoon(runs[i] as ToolRun, run, graceMs));
    if (runs.length > allowed) broken.push(`E4: ${first.tool} ${key} was begun ${runs.length} times`);
  }
  return broken;
}

/** An intent is as old as this when its effect begins, at most. */
const INTENT_MS = 1_000;

/** One that is lost may be under way until its time-out and the grace are over (E4); one that threw is not. */
function tooSoon(earlier: ToolRun, later: ToolRun, graceMs: number): string[] {
  const safeAt = earlier.at + earlier.timeoutMs + graceMs - INTENT_MS;
  if (earlier.outcome === 'threw' || later.at >= safeAt) return [];
  return [`E4: ${later.tool} ${later.key} is begun again ${safeAt - later.at} ms too soon`];
}

/** What somebody was told is taken stands, and stands once (H2, H3). */
function answers({ people }: Ended, log: readonly Envelope[]): string[] {
  const logged = of(log, 'PauseAnswered').map(({ data }) => data);
  return people.accepted.flatMap(({ pause, decision }) => {
    const found = logged.filter((data) => data.pause === pause);
    if (found.length === 1 && found[0]?.decision === decision) return [];
    return [
      `H2: ${decision} to ${pause} was accepted, and the log has ${found.map((data) => data.decision).join() || 'none'}`,
    ];
  });
}

/** What the model saw of a call is what is stored of it, and was durable before it saw it (E3). */
async function shown({ world, stores, session }: Ended, log: readonly Envelope[]): Promise<string[]> {
  const broken: string[] = [];
  const results = new Map(of(log, 'ToolCallCompleted').map(({ data }) => [data.call, data]));
  for (const { prompt } of world.prompts) {
    for (const message of prompt) {
      if (message.role !== 'tool') continue;
      for (const part of message.content) {
        if (part.type !== 'tool-result') continue;
        const call = callOf(part.toolCallId);
        const stored = results.get(call);
        const [json] = stored?.ref ? await stores.load(session, 'messages', [stored.ref]) : [];
        const value = outputOf(part.output);
        if (json === undefined || canonicalJson(JSON.parse(json)) !== canonicalJson(value))
          broken.push(`E3: the model saw ${JSON.stringify(value)} of ${call}, and stored is ${json}`);
      }
    }
  }
  return broken;
}

type ToolOutput = Extract<LanguageModelV4ToolResultPart['output'], object>;

function outputOf(output: ToolOutput): unknown {
  if (output.type === 'execution-denied') return output.reason ?? null;
  return output.value;
}

/** `2.0` of `call-1-0`, as the scripted model names its calls. */
function callOf(id: string): string {
  const [, answers, index] = id.split('-');
  return `${Number(answers) + 1}.${index}`;
}

interface SnapshotBody {
  readonly loop: LoopState;
}

/** What a snapshot says was spent is what the log before it says, and no activity tells of more. */
async function spends({ session, stores, crew }: Ended, log: readonly Envelope[]): Promise<string[]> {
  const broken: string[] = [];
  for (const { seq, data } of of(log, 'AgentSnapshot')) {
    const [json = ''] = await stores.load(session, 'snapshots', [data.ref]);
    const { spent } = (JSON.parse(json) as SnapshotBody).loop;
    const before = of(log.slice(0, seq), 'GenerationCompleted').map((event) => event.data.usage);
    const tokens = before.reduce((sum, usage) => sum + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0), 0);
    if (spent.steps !== before.length || spent.tokens !== tokens)
      broken.push(
        `C1: the snapshot at ${seq} has spent ${JSON.stringify(spent)}, the log ${before.length} steps, ${tokens}`,
      );
  }
  const steps = of(log, 'GenerationCompleted').length;
  const most = Math.max(0, ...crew.results.map(({ spent }) => spent?.steps ?? 0));
  if (most > steps) broken.push(`an activity tells of ${most} generations, and the log has ${steps}`);
  return broken;
}

/** The workflow, the log and the record tell of the same end (F3, F6), and activities tell of nothing else. */
async function endings({ session, server, stores, crew, rescue }: Ended, view: SessionView): Promise<string[]> {
  const outcome = server.outcome(session);
  const root = view.root === null ? undefined : view.agents[view.root];
  if ((!view.terminal || root === undefined) && (await rescue.isLeft())) return [];
  if (!view.terminal || root === undefined)
    return [`the workflow ended as ${outcome?.status} (${String(outcome?.result)}), and the log goes on`];
  const broken: string[] = [];
  const result = outcome?.result as { phase?: string } | null;
  if (outcome?.status === 'COMPLETED' && result?.phase !== root.phase)
    broken.push(`F3: the workflow gives ${result?.phase}, and the log has ${root.phase}`);
  const [entry] = await stores.sessions();
  const record = entry?.completed ?? null;
  if (record !== null && (record.phase !== root.phase || record.lastSeq !== view.lastSeq))
    broken.push(`F6: the completed record has ${JSON.stringify(record)}`);
  if (crew.results.some((one) => one.lastSeq > view.lastSeq))
    broken.push('an activity tells of events that are not there');
  return broken;
}
