import { ChangedList } from './changed-list.ts';
import type { BodyRef, TerminalPhase, Usage } from './envelopes.ts';
import { LogUnreadableError } from './error.ts';
import { Seen } from './seen.ts';
import type { AgentView, OpenJob, OpenPauseView, SessionView, UsageTotals } from './view.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** What is known of a view beside what it shows. */
interface Hidden {
  readonly effects: Seen;
  readonly applied: Seen;
}

/** By view, so that views stay plain JSON. */
const hiddenOf = new WeakMap<SessionView, Hidden>();

/**
 * A view being changed. Nothing that the view it starts from holds is ever written to: what changes is copied at its
 * first change and from then on changed in place, so that in a draft that takes many envelopes a change costs O(1).
 */
export class Draft {
  /** The plain fields. The collections in it are still those of the view it started from. */
  readonly head: Mutable<SessionView>;
  #agents: Map<string, Mutable<AgentView>> | null = null;
  /** Children to be added, by parent. */
  #children: Map<string, string[]> | null = null;
  #inFlight: ChangedList<string> | null = null;
  #jobs: ChangedList<OpenJob> | null = null;
  #pauses: ChangedList<OpenPauseView> | null = null;
  #newlyApplied: string[] | null = null;
  #hidden: Hidden;

  constructor(view: SessionView) {
    this.head = { ...view };
    this.#hidden = hiddenOf.get(view) ?? rebuild(view);
  }

  /** The view as it is now. The draft must not be used afterwards. */
  finish(): SessionView {
    const view = this.head;
    for (const [parent, added] of this.#children ?? []) {
      const agent = this.change(parent);
      agent.children = agent.children.concat(added);
    }
    if (this.#agents !== null) view.agents = { ...view.agents, ...Object.fromEntries(this.#agents) };
    if (this.#inFlight !== null) view.inFlight = this.#inFlight.finish();
    if (this.#jobs !== null) view.jobs = this.#jobs.finish();
    if (this.#pauses !== null) view.pauses = this.#pauses.finish();
    if (this.#newlyApplied !== null) view.applied = view.applied.concat(this.#newlyApplied);
    hiddenOf.set(view, this.#hidden);
    return view;
  }

  /** L8: the log contradicts itself at the place of the next envelope. */
  refuse(why: string): never {
    const { session, lastSeq } = this.head;
    throw new LogUnreadableError(session === '' ? null : session, lastSeq + 1, why);
  }

  agent(ref: string): AgentView | undefined {
    return this.#agents?.get(ref) ?? (Object.hasOwn(this.head.agents, ref) ? this.head.agents[ref] : undefined);
  }

  /** A born agent, to be changed. */
  change(ref: string): Mutable<AgentView> {
    this.#agents ??= new Map();
    let agent = this.#agents.get(ref);
    if (agent === undefined) {
      agent = { ...(this.head.agents[ref] as AgentView) };
      this.#agents.set(ref, agent);
    }
    return agent;
  }

  addAgent(agent: AgentView): void {
    this.#agents ??= new Map();
    this.#agents.set(agent.ref, { ...agent });
    if (agent.ref !== this.head.root) this.#flying.add(agent.ref);
    if (agent.parent === null) return;
    this.#children ??= new Map();
    const siblings = this.#children.get(agent.parent);
    if (siblings === undefined) this.#children.set(agent.parent, [agent.ref]);
    else siblings.push(agent.ref);
  }

  endAgent(ref: string, phase: TerminalPhase, reason: string | null, output: BodyRef | null): void {
    Object.assign(this.change(ref), { phase, reason, output, resuming: false });
    if (ref === this.head.root) Object.assign(this.head, { terminal: true, reason, output });
    else this.#flying.delete(ref);
  }

  /** R3: a resume goes on without those in flight. */
  supersede(): void {
    for (const ref of this.#flying.finish()) this.change(ref).superseded = true;
    this.#inFlight = new ChangedList<string>([], (ref) => ref);
  }

  addUsage(ref: string, usage: Usage): void {
    const agent = this.change(ref);
    agent.usage = sum(agent.usage, usage);
    this.head.usage = sum(this.head.usage, usage);
  }

  get jobs(): ChangedList<OpenJob> {
    this.#jobs ??= new ChangedList(this.head.jobs, ({ job }) => job);
    return this.#jobs;
  }

  get pauses(): ChangedList<OpenPauseView> {
    this.#pauses ??= new ChangedList(this.head.pauses, ({ pause }) => pause);
    return this.#pauses;
  }

  addApplied(key: string): void {
    const { applied } = this.#hidden;
    if (applied.has(key)) return;
    this.#hidden = { ...this.#hidden, applied: applied.with(key) };
    this.#newlyApplied ??= [];
    this.#newlyApplied.push(key);
  }

  addEffect(key: string): void {
    const { effects } = this.#hidden;
    if (effects.has(key)) return;
    this.#hidden = { ...this.#hidden, effects: effects.with(key) };
    this.head.sideEffects += 1;
  }

  get #flying(): ChangedList<string> {
    this.#inFlight ??= new ChangedList(this.head.inFlight, (ref) => ref);
    return this.#inFlight;
  }
}

const sum = (totals: UsageTotals, usage: Usage): UsageTotals => ({
  inputTokens: totals.inputTokens + (usage.inputTokens ?? 0),
  outputTokens: totals.outputTokens + (usage.outputTokens ?? 0),
  costUsd: totals.costUsd + (usage.costUsd ?? 0),
});

/** For a view that comes from elsewhere (parsed JSON): which effect keys its count stands for cannot be told. */
function rebuild(view: SessionView): Hidden {
  if (view.sideEffects > 0) {
    throw new TypeError('only a view that fold or evolve gave can be evolved, not a copy of one; fold the log instead');
  }
  return { effects: Seen.none, applied: Seen.of(view.applied) };
}
