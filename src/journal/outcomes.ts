import type { CallState } from '../agent/loop.ts';
import type { ToolContext } from '../agent/tool.ts';
import { BodyTooLargeError, FencedError, SessionTerminalError, UnserializableValueError } from '../contract/errors.ts';
import type { EvidenceRow, Stores } from '../ports/store.ts';
import { canonicalJson } from '../session/canonical-json.ts';
import { bodyOf } from '../session/digest.ts';
import type { CallOutcome } from '../session/envelopes.ts';
import type { AgentRun } from './agent-run.ts';
import { type Attempted, messageOf } from './attempt.ts';
import { draft, type Entry } from './session-log.ts';

export interface OutcomesOptions {
  readonly run: AgentRun;
  readonly stores: Pick<Stores, 'write'>;
  readonly log: ToolContext['log'];
}

/** Records what calls came to (E3), and what came too late to count (E4). */
export class Outcomes {
  readonly #run: AgentRun;
  readonly #stores: Pick<Stores, 'write'>;
  readonly #log: ToolContext['log'];

  constructor({ run, stores, log }: OutcomesOptions) {
    this.#run = run;
    this.#stores = stores;
    this.#log = log;
  }

  /** Records what a run of a tool came to. */
  async record(call: CallState, attempted: Attempted): Promise<void> {
    if (attempted.of === 'value') return this.complete(call, 'ok', attempted.value);
    return this.complete(call, 'error', `${call.tool}: ${attempted.message}`);
  }

  /**
   * Result, outcome, and at the node's end the snapshot, in one write.
   *
   * @param before what goes with it and must be durable first.
   */
  async complete(call: CallState, outcome: CallOutcome, value: unknown, before: readonly Entry[] = []): Promise<void> {
    const run = this.#run;
    const { row, as } = this.#resultRow(call, outcome, value);
    const { agent } = run.id;
    const data = {
      call: call.call,
      tool: call.tool,
      class: call.class,
      key: call.key,
      outcome: as,
      served: 'fresh',
      ref: row.ref,
    } as const;
    const after = run.foresee({ of: 'call', call: call.call, outcome: as });
    const keepEvidence = async () => {
      if (call.class === 'effect') await this.#stores.write([this.#evidence(call, as, row.json)]);
    };
    try {
      const logged = await run.append([
        ...before,
        row,
        draft('ToolCallCompleted', agent, `done/${agent}/${call.call}`, data),
        ...run.snapshot('node', after),
      ]);
      // A newer dispatch has settled the call before.
      const done = logged.find(({ type }) => type === 'ToolCallCompleted');
      if (canonicalJson(done?.data) !== canonicalJson(data)) await keepEvidence();
    } catch (error) {
      if (error instanceof FencedError || error instanceof SessionTerminalError) await keepEvidence();
      throw error;
    }
  }

  #resultRow(call: CallState, outcome: CallOutcome, value: unknown) {
    try {
      return { row: this.#run.row('messages', call.tool, value), as: outcome };
    } catch (error) {
      if (!(error instanceof UnserializableValueError || error instanceof BodyTooLargeError)) throw error;
      return {
        row: this.#run.row('messages', call.tool, `${call.tool}: ${error.code}: ${error.message}`),
        as: 'error' as const,
      };
    }
  }

  /** What an effect brings that was given up: evidence for whoever decides, never served (E4). */
  async keepLate(call: CallState, attempted: Attempted): Promise<void> {
    if (attempted.of === 'silence') return;
    try {
      const [as, value] =
        attempted.of === 'value' ? (['ok', attempted.value] as const) : (['error', attempted.message] as const);
      const row = this.#evidence(call, as, bodyOf(value).json);
      await this.#stores.write([{ ...row, id: `${row.id}/late` }]);
    } catch (error) {
      this.#log(`what ${call.tool} gave late is lost: ${messageOf(error)}`, { key: call.key });
    }
  }

  #evidence(call: CallState, outcome: CallOutcome, json: string): EvidenceRow {
    const { session, agent, resume, epoch, slice } = this.#run.id;
    const id = `${agent}#${resume}.${epoch}.${slice}/${call.call}`;
    const { tool, key } = call;
    return {
      into: 'effects',
      id,
      session,
      agent,
      call: call.call,
      tool,
      key,
      epoch,
      outcome,
      json,
      at: new Date().toISOString(),
    };
  }
}
