import type { StoredGeneration } from '../agent/generation.ts';
import { apply, atBoundary, type Ending, initialLoop, type LoopOutcome, type LoopState } from '../agent/loop.ts';
import type { PinnedAgent } from '../agent/shape.ts';
import type { DispatchId } from '../contract/activities.ts';
import { BodyMissingError, BodyTooLargeError, SessionNotFoundError } from '../contract/errors.ts';
import type { OpenPause } from '../contract/session.ts';
import type { BodyRow, BodyTable, StateStore } from '../ports/store.ts';
import { bodyOf } from '../session/digest.ts';
import type { BodyRef, CallOutcome, Envelope, EventDraft, SnapshotSource } from '../session/envelopes.ts';
import type { AgentTranscript } from '../session/transcript.ts';
import { type Author, draft, type Entry, type SessionLog } from './session-log.ts';

/** The body of a per-agent snapshot (C1): the definition by the pin's digest, the budget's state, and how far the conversation reached. */
interface SnapshotBody {
  readonly v: 1;
  readonly definition: string;
  /** Loop position with what was spent. The conversation reached `loop.node`, and with it the call counters (E2). */
  readonly loop: LoopState;
}

export interface AgentRunOptions {
  readonly bodies: StateStore & { keep(row: BodyRow): void };
  readonly log: SessionLog;
  readonly id: DispatchId;
  readonly pinned: PinnedAgent;
  /** Limit of one body, in bytes. */
  readonly maxBodyBytes: number;
}

/**
 * One agent under one dispatch: its loop state, recovered from the latest node boundary and the events since, and kept in
 * step with the log, whoever appends to it.
 */
export class AgentRun {
  readonly id: DispatchId;
  readonly log: SessionLog;
  readonly pinned: PinnedAgent;
  readonly author: Author;
  /** Calls whose intent this run logged: no doubt about those. */
  readonly intents = new Set<string>();
  /** Bodies this process has made or loaded and still needs, by digest. */
  readonly bodies = new Map<string, unknown>();
  readonly #bodies: AgentRunOptions['bodies'];
  readonly #maxBodyBytes: number;
  #state: LoopState = initialLoop;
  #generation: StoredGeneration | null = null;
  #ordinal = 0;
  #explicit: { readonly node: number; readonly ordinal: number; readonly entries: readonly Entry[] } | null = null;
  #stop: () => void = () => undefined;

  constructor(options: AgentRunOptions) {
    this.id = options.id;
    this.log = options.log;
    this.pinned = options.pinned;
    this.author = { agent: options.id.agent, resume: options.id.resume, epoch: options.id.epoch };
    this.#bodies = options.bodies;
    this.#maxBodyBytes = options.maxBodyBytes;
  }

  /** Loop state as the log has it. */
  get state(): LoopState {
    return this.#state;
  }

  /** The current node's generation. */
  get generation(): StoredGeneration | null {
    return this.#generation;
  }

  get transcript(): AgentTranscript {
    const transcript = this.log.agent(this.id.agent);
    if (!transcript) throw new SessionNotFoundError(this.id.session);
    return transcript;
  }

  get goal(): string {
    return this.#started.data.goal;
  }

  /** Digest of the pin. */
  get pin(): string {
    return this.#started.data.pin.digest;
  }

  get #started() {
    const started = this.log.transcript.started;
    if (!started) throw new SessionNotFoundError(this.id.session);
    return started;
  }

  /** Milliseconds since the session's start. */
  elapsedMs(now = Date.now()): number {
    return now - Date.parse(this.#started.at);
  }

  /** Recovers the loop state and keeps following the log until {@link close}. */
  async open(): Promise<void> {
    const { boundary, tail } = this.transcript;
    if (boundary) {
      const body = (await this.body('snapshots', boundary.ref)) as SnapshotBody;
      this.#state = body.loop;
    }
    for (const event of tail) {
      if (event.type === 'GenerationCompleted') await this.body('messages', event.data.ref);
    }
    for (const event of tail) this.#follow(event);
    this.#stop = this.log.subscribe((event) => this.#follow(event));
  }

  close(): void {
    this.#stop();
  }

  /** The parsed value of a body. */
  async body(table: BodyTable, ref: BodyRef): Promise<unknown> {
    if (!this.bodies.has(ref.digest)) {
      const [json] = await this.#bodies.load(this.id.session, table, [ref]);
      if (json === undefined) throw new BodyMissingError(this.id.session, table, ref.digest, 'missing');
      this.bodies.set(ref.digest, JSON.parse(json));
    }
    return this.bodies.get(ref.digest);
  }

  /**
   * Makes a body row of a value. What the run goes on with is the parsed bytes (L7).
   *
   * @throws {UnserializableValueError} naming the path.
   * @throws {BodyTooLargeError} naming `what`.
   */
  row(into: BodyTable, what: string, value: unknown): BodyRow {
    const { ref, json } = bodyOf(value);
    if (ref.bytes > this.#maxBodyBytes) throw new BodyTooLargeError(what, ref.bytes, this.#maxBodyBytes);
    const row: BodyRow = { into, session: this.id.session, ref, json };
    this.bodies.set(ref.digest, JSON.parse(json));
    this.#bodies.keep(row);
    return row;
  }

  /**
   * What the state will be with one more outcome on the log. Others that are on their way count only once they are there: they may
   * fail.
   */
  foresee(outcome: LoopOutcome): LoopState {
    return apply(this.#state, outcome);
  }

  append(entries: readonly Entry[]): Promise<Envelope[]> {
    return this.log.append(this.author, entries);
  }

  /** The entries of a snapshot; of source `node` none where the state is not at a boundary. */
  snapshot(source: SnapshotSource, state: LoopState): Entry[] {
    if (source === 'node' && !atBoundary(state)) return [];
    this.#ordinal = Math.max(this.#ordinal, this.transcript.snapshot?.ordinal ?? 0) + 1;
    const body: SnapshotBody = { v: 1, definition: this.pin, loop: state };
    const row = this.row('snapshots', 'snapshot', body);
    const { agent } = this.id;
    const data = { ordinal: this.#ordinal, source, node: state.node, ref: row.ref };
    return [row, draft('AgentSnapshot', agent, `snapshot/${agent}/${this.#ordinal}`, data)];
  }

  /** The snapshot that the agent asks for: one in each node, however often it does. `entries` are for the log, where it lacks it. */
  explicitSnapshot(): { readonly ordinal: number; readonly entries: readonly Entry[] } {
    const { node } = this.#state;
    const logged = this.transcript.tail.find(
      (event) => event.type === 'AgentSnapshot' && event.data.source === 'explicit' && event.data.node === node,
    );
    if (logged?.type === 'AgentSnapshot') return { ordinal: logged.data.ordinal, entries: [] };
    if (this.#explicit?.node !== node) {
      const entries = this.snapshot('explicit', this.#state);
      this.#explicit = { node, ordinal: this.#ordinal, entries };
    }
    return this.#explicit;
  }

  /** AgentResumed, due at the end of a resumed dispatch's first slice (W3). */
  resumed(): EventDraft[] {
    const { agent, epoch } = this.id;
    const { resuming, epoch: latest } = this.transcript;
    return resuming && latest === epoch ? [draft('AgentResumed', agent, `resumed/${agent}/${epoch}`, { epoch })] : [];
  }

  /** What became of a call, or undefined while it is open. */
  outcomeOf(call: string): CallOutcome | undefined {
    const done = this.transcript.messages.findLast((message) => message.of === 'result' && message.call === call);
    return done?.of === 'result' ? done.outcome : undefined;
  }

  openPauses(): OpenPause[] {
    return [...this.transcript.pauses.values()].map((pause) => ({
      pause: pause.pause,
      kind: pause.kind,
      agent: this.id.agent,
      call: pause.call ?? null,
      tool: pause.tool ?? null,
      accepts: pause.accepts,
    }));
  }

  /**
   * Ends the agent: pauses withdrawn (R7), the terminal phase last (F3), then the completed record (F6). The answer of a
   * generation that ended it, where a write broke off after that, is its output.
   */
  async end(ending: Ending, detail?: BodyRow): Promise<Envelope[]> {
    const answer = ending === this.#state.ending ? (this.#generation?.answer ?? null) : null;
    const body = {
      ...(answer === null ? {} : { output: this.row('bodies', 'output', answer) }),
      ...(detail ? { detail } : {}),
    };
    return this.append([...this.resumed(), ...endEntries(this.log, this.id.agent, ending, body)]);
  }

  #follow(event: Envelope): void {
    if (event.agent !== this.id.agent) return;
    const outcome = this.#outcomeOf(event);
    if (!outcome) return;
    this.#state = apply(this.#state, outcome);
  }

  #outcomeOf(event: Envelope): LoopOutcome | null {
    switch (event.type) {
      case 'GenerationCompleted': {
        const { node, usage, finish, ref } = event.data;
        const stored = this.bodies.get(ref.digest) as StoredGeneration | undefined;
        if (!stored) return null;
        this.#generation = stored;
        return { of: 'generation', node, usage, finish, calls: stored.calls, misfit: stored.misfit !== null };
      }
      case 'ToolCallCompleted':
        return { of: 'call', call: event.data.call, outcome: event.data.outcome };
      case 'PauseRaised':
        return event.data.call ? { of: 'pause', call: event.data.call, pause: event.data.pause } : null;
      case 'PauseAnswered':
        return { of: 'answer', pause: event.data.pause, decision: event.data.decision };
      default:
        return null;
    }
  }
}

/** What ends an agent, in order: open pauses withdrawn (R7), the terminal phase (F3), and for the root the completed record (F6). */
export function endEntries(
  log: SessionLog,
  agent: string,
  ending: Ending,
  body: { output?: BodyRow; detail?: BodyRow } = {},
): Entry[] {
  const entries: Entry[] = [];
  for (const pause of log.agent(agent)?.pauses.keys() ?? [])
    entries.push(draft('PauseAnswered', agent, `answered/${pause}`, { pause, decision: 'withdrawn' }));
  if (body.output) entries.push(body.output);
  if (body.detail) entries.push(body.detail);
  entries.push(
    draft('AgentLifecycle', agent, `end/${agent}`, {
      phase: ending.phase,
      ...(ending.reason === null ? {} : { reason: ending.reason }),
      ...(body.output ? { output: body.output.ref } : {}),
      ...(body.detail ? { detail: body.detail.ref } : {}),
    }),
  );
  if (log.transcript.started?.data.root === agent) {
    entries.push({
      into: 'completed',
      session: log.session,
      phase: ending.phase,
      reason: ending.reason,
    });
  }
  return entries;
}
