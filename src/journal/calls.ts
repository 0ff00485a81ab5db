import { setTimeout as sleep } from 'node:timers/promises';
import type { CallState } from '../agent/loop.ts';
import { isSkillTool, type SkillToolName } from '../agent/skill-tools.ts';
import type { Reconciled, ToolContext } from '../agent/tool.ts';
import { FencedError, ToolMissingError } from '../contract/errors.ts';
import type { Stores } from '../ports/store.ts';
import type { Tool } from '../ports/tools.ts';
import { bodyDigest, bodyOf } from '../session/digest.ts';
import type { EnvelopeOf, EventDraft, PauseKind } from '../session/envelopes.ts';
import type { Json, JsonObject } from '../session/json.ts';
import type { AgentRun } from './agent-run.ts';
import { type Answered, answered, argumentsOf, denial, isApproved } from './answers.ts';
import { type Attempted, type AttemptOptions, attempts, messageOf } from './attempt.ts';
import { applyCall } from './orchestration.ts';
import { Outcomes } from './outcomes.ts';
import { draft } from './session-log.ts';
import { LONGEST_TIMER_MS, timeLimit } from './time-limit.ts';

/** An effect that has not begun this long after its intent was sent is asked for anew (E3). */
const INTENT_LASTS_MS = 1_000;

export interface CallsOptions {
  readonly run: AgentRun;
  readonly stores: Pick<Stores, 'write'>;
  readonly tool: (name: string) => Tool | null;
  /** Answers a call of a skill tool from the pin. What it throws is not told to the agent. */
  readonly skill: (name: SkillToolName, args: Json) => Promise<{ outcome: 'ok' | 'error'; value: Json }>;
  /** Aborted when the work must stop: cancelled, or the dispatch counts as lost. */
  readonly signal: AbortSignal;
  /** Whether `signal` is aborted because the session was cancelled. */
  readonly cancelled: () => boolean;
  /** The worker's shutdown (W5): from `released` on nothing is begun, from `drained` on what runs is told to stop. */
  readonly leaving: { readonly released: AbortSignal; readonly drained: AbortSignal };
  /** Added to a tool's time-out before an effect in doubt may run again (E4), and given to tools that are told to stop. */
  readonly graceMs: number;
  readonly log: ToolContext['log'];
}

/** The effect protocol (E3, E4) and approvals (H4) for the calls of one agent run. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #run: AgentRun;
  readonly #outcomes: Outcomes;
  readonly #intendedAt = new Map<string, number>();
  readonly #begun = new Set<string>();
  #intents = 0;

  constructor(options: CallsOptions) {
    this.#options = options;
    this.#run = options.run;
    this.#outcomes = new Outcomes(options);
  }

  /**
   * The intent of a call that is about to run for the first time, to be logged with what else is due; none where the call
   * needs no intent, or may not run yet.
   */
  intent(call: CallState, args: string = call.args): EventDraft[] {
    if (call.class !== 'effect' || call.problem !== null || (call.approval && !isApproved(call))) return [];
    const { agent, resume, epoch, slice } = this.#run.id;
    this.#intents += 1;
    this.#run.intents.add(call.call);
    this.#intendedAt.set(call.call, performance.now());
    const { tool, key } = call;
    const id = `started/${agent}/${resume}.${epoch}.${slice}/${call.call}/${this.#intents}`;
    return [draft('ToolCallStarted', agent, id, { call: call.call, tool, class: 'effect', key, args })];
  }

  /** Gives calls their outcome whose intent is logged and which will not begin: nothing is in doubt about those. */
  async abandon(calls: readonly CallState[], why: string): Promise<void> {
    const intended = calls.filter(
      (call) => call.outcome === null && this.#run.intents.has(call.call) && !this.#begun.has(call.call),
    );
    await Promise.all(intended.map((call) => this.#outcomes.complete(call, 'error', why)));
  }

  /**
   * Brings a call to its outcome, or to a pause that a person must answer. Where the worker shuts down, a call may be left as
   * it is to the next one; an effect that this one runs is not (W5).
   */
  async settle(call: CallState): Promise<void> {
    if (call.problem !== null) return this.#outcomes.complete(call, 'error', call.problem);
    const answer = await answered(this.#run, call);
    if (answer?.decision === 'reject') return this.#outcomes.complete(call, 'denied', denial(answer));
    if (call.approval && !isApproved(call)) return this.#raise(call, 'approval', ['approve', 'reject', 'edit']);
    if (call.class === 'orchestrator') {
      const { entries, result } = applyCall(this.#run, call);
      return this.#outcomes.complete(call, 'ok', result, entries);
    }
    if (isSkillTool(call.tool)) return this.#readSkill(call, call.tool);
    const tool = this.#options.tool(call.tool);
    if (!tool) throw new ToolMissingError(call.tool);
    const args = await argumentsOf(this.#run, call);
    if (call.class === 'read') return this.#read(call, tool, args);
    const started = this.#startedBefore(call);
    if (started) return this.#settleDoubt(call, tool, args, started, answer);
    return this.#perform(call, tool, args);
  }

  async #readSkill(call: CallState, name: SkillToolName): Promise<void> {
    if (this.#options.leaving.released.aborted) return;
    const { outcome, value } = await this.#options.skill(name, await argumentsOf(this.#run, call));
    return this.#outcomes.complete(call, outcome, value);
  }

  async #read(call: CallState, tool: Tool, args: Json): Promise<void> {
    if (this.#options.leaving.released.aborted) return;
    const attempted = await attempts(tool, args, this.#context(call), this.#attempting());
    if (attempted.of !== 'cut') await this.#outcomes.record(call, attempted);
  }

  /** Logs the intent where none is fresh, runs the effect, and logs its outcome. */
  async #perform(call: CallState, tool: Tool, args: Json): Promise<void> {
    if (this.#options.leaving.released.aborted && !this.#run.intents.has(call.call)) return;
    const intend = () => this.#intend(call, args);
    if (!(await intend())) return;
    this.#begun.add(call.call);
    const late = (attempted: Attempted) => void this.#outcomes.keepLate(call, attempted);
    const attempted = await attempts(tool, args, this.#context(call), this.#attempting(late), intend);
    const { signal, cancelled } = this.#options;
    // Whoever goes on with the session is to find the effect in doubt: it was cut short, and not by anybody's word (E4).
    if (signal.aborted && !cancelled() && attempted.of !== 'value') return this.#outcomes.keepLate(call, attempted);
    if (attempted.of !== 'silence') return this.#outcomes.record(call, attempted);
    if (signal.aborted) return this.#outcomes.complete(call, 'unknown', attempted.message);
    return this.#afterSilence(call, tool, args, attempted.message);
  }

  /** Sees to a fresh intent, which a dispatch that has lost the agent does not get; false where the work must stop. */
  async #intend(call: CallState, args: Json): Promise<boolean> {
    while (!this.#isIntended(call)) {
      if (this.#options.signal.aborted) return false;
      await this.#run.append(this.intent(call, bodyDigest(args)));
      if (!this.#isIntended(call)) await this.#renew(call);
    }
    return true;
  }

  /** Whether a call's intent is fresh. */
  #isIntended(call: CallState): boolean {
    return performance.now() - (this.#intendedAt.get(call.call) ?? Number.NEGATIVE_INFINITY) <= INTENT_LASTS_MS;
  }

  /** An intent that took long to be acknowledged is as good as new where the log shows, as of now, no newer dispatch. */
  async #renew(call: CallState): Promise<void> {
    const { log, author, id } = this.#run;
    const asked = performance.now();
    await log.catchUp();
    if (log.isFenced(author) || log.terminal) throw new FencedError(id.session, id.agent);
    this.#intendedAt.set(call.call, asked);
  }

  /** A Started without Completed that this run did not write (E4). */
  async #settleDoubt(
    call: CallState,
    tool: Tool,
    args: Json,
    started: EnvelopeOf<'ToolCallStarted'>,
    answer: Answered | null,
  ): Promise<void> {
    if (answer?.decision === 'happened') return this.#outcomes.complete(call, 'ok', answer.body.result ?? null);
    if (answer?.decision === 'fail')
      return this.#outcomes.complete(call, 'error', answer.body.reason ?? 'a person says that it failed');
    const safeAt =
      Math.max(Date.parse(started.at), Date.parse(this.#run.transcript.fencedAt ?? started.at)) +
      tool.timeoutMs +
      this.#options.graceMs;
    // An answer from before the latest try says nothing about what became of that one.
    if (answer?.decision === 'retry' && answer.seq > started.seq) return this.#again(call, tool, args, safeAt);
    // It runs nowhere that is known of, so nothing is to be waited for where the worker shuts down.
    const signal = AbortSignal.any([this.#options.signal, this.#options.leaving.released]);
    const reconciled = await this.#reconcile(call, tool, args, signal);
    if (reconciled === 'happened') return;
    if (reconciled === 'not-happened') {
      await this.#until(safeAt);
      const now = await this.#reconcile(call, tool, args, signal);
      if (now === 'happened') return;
      if (now === 'not-happened') return this.#perform(call, tool, args);
    }
    if (signal.aborted) return;
    if (tool.idempotent) return this.#perform(call, tool, args);
    return this.#undecided(call, tool, 'the worker that ran it was lost before its outcome was recorded');
  }

  async #again(call: CallState, tool: Tool, args: Json, safeAt: number): Promise<void> {
    if (!tool.idempotent) await this.#until(safeAt);
    return this.#perform(call, tool, args);
  }

  /** The effect's own time-out passed while its worker lives: it is in doubt just the same. */
  async #afterSilence(call: CallState, tool: Tool, args: Json, why: string): Promise<void> {
    let reconciled = await this.#reconcile(call, tool, args);
    if (reconciled === 'not-happened') {
      // It was told to stop, and may be at it still.
      await sleep(this.#options.graceMs);
      reconciled = await this.#reconcile(call, tool, args);
    }
    if (reconciled === 'happened') return;
    if (reconciled === 'not-happened') return this.#outcomes.complete(call, 'error', why);
    return this.#undecided(call, tool, why);
  }

  async #undecided(call: CallState, tool: Tool, why: string): Promise<void> {
    const { signal, leaving } = this.#options;
    if (signal.aborted) return;
    if (tool.idempotent && leaving.drained.aborted) {
      // It was to be run again, which the next worker does.
      this.#run.intents.delete(call.call);
      return;
    }
    switch (tool.onDoubt) {
      case 'ask':
        this.#run.intents.delete(call.call);
        this.#intendedAt.delete(call.call);
        return this.#raise(call, 'in-doubt', ['happened', 'retry', 'fail'], why);
      case 'tell':
        return this.#outcomes.complete(
          call,
          'unknown',
          `${why}: it may or may not have happened; look before you go on`,
        );
      case 'fail':
        return this.#outcomes.complete(call, 'error', `${why}: it may or may not have happened`);
      default:
        throw new TypeError(`unknown onDoubt ${JSON.stringify(tool.onDoubt satisfies never)}`);
    }
  }

  async #reconcile(
    call: CallState,
    tool: Tool,
    args: Json,
    told: AbortSignal = this.#options.signal,
  ): Promise<'happened' | 'not-happened' | 'unknown'> {
    if (!tool.reconcile || told.aborted) return 'unknown';
    const limit = timeLimit(tool.timeoutMs);
    const signal = AbortSignal.any([told, limit.signal]);
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    let found: Reconciled;
    try {
      signal.throwIfAborted();
      found = await Promise.race([tool.reconcile(args, { key: call.key, signal }), tooLate]);
    } catch (error) {
      this.#options.log(`reconcile of ${tool.name} failed: ${messageOf(error)}`, { key: call.key });
      return 'unknown';
    } finally {
      limit.clear();
    }
    if (found === 'unknown') return 'unknown';
    if (!found.happened) return 'not-happened';
    await this.#outcomes.record(call, { of: 'value', value: found.result ?? null });
    return 'happened';
  }

  /** Waits for a time, no longer than until the worker shuts down. */
  async #until(time: number): Promise<void> {
    const { signal: stopped, leaving } = this.#options;
    const signal = AbortSignal.any([stopped, leaving.released]);
    for (let left = time - Date.now(); left > 0 && !leaving.released.aborted; left = time - Date.now())
      await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, { signal }).catch(() => stopped.throwIfAborted());
  }

  #attempting(late?: AttemptOptions['late']): AttemptOptions {
    const { graceMs, leaving } = this.#options;
    return { graceMs, drained: leaving.drained, ...(late && { late }) };
  }

  /** The intent of an earlier run for a call that has no outcome. */
  #startedBefore(call: CallState): EnvelopeOf<'ToolCallStarted'> | undefined {
    if (this.#run.intents.has(call.call)) return undefined;
    return this.#run.transcript.tail.findLast(
      (event): event is EnvelopeOf<'ToolCallStarted'> =>
        event.type === 'ToolCallStarted' && event.data.key === call.key,
    );
  }

  #context(call: CallState): ToolContext {
    const { agent, session } = this.#run.id;
    const log: ToolContext['log'] = (message, fields) => this.#options.log(message, { ...fields, tool: call.tool });
    return { key: call.key, signal: this.#options.signal, agent, session, log };
  }

  /** Pauses a call, once: reaching an open pause again raises nothing new (R7). */
  async #raise(call: CallState, kind: PauseKind, accepts: string[], why?: string): Promise<void> {
    const run = this.#run;
    const { agent, session } = run.id;
    const times = call.decisions.filter(({ pause }) => pause.startsWith(`${kind}-`)).length;
    const pause = `${kind}-${call.key.slice('sha256:'.length, 'sha256:'.length + 16)}${times > 0 ? `-${times + 1}` : ''}`;
    const body: JsonObject = { tool: call.tool, args: await argumentsOf(this.#run, call), ...(why ? { why } : {}) };
    const { ref, json } = bodyOf(body);
    const data = { pause, kind, call: call.call, accepts, tool: call.tool, key: call.key, ref };
    await run.append([{ into: 'bodies', session, ref, json }, draft('PauseRaised', agent, `pause/${pause}`, data)]);
  }
}
