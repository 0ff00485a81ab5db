import fc from 'fast-check';
import {
  callOutcomes,
  type Envelope,
  type EnvelopeOf,
  type EventData,
  type EventType,
  pauseKinds,
  snapshotSources,
  terminalPhases,
} from '../../src/session/envelopes.ts';

export const SESSION = 's-1';
export const ROOT = `${SESSION}/root-1`;

export const ref = (n: number): { digest: string; bytes: number } => ({
  digest: `sha256:${n.toString(16).padStart(64, '0')}`,
  bytes: n,
});

/** An envelope of the test session, with what every envelope has filled in. */
export const envelope = <T extends EventType>(
  seq: number,
  type: T,
  agent: EnvelopeOf<T>['agent'],
  data: EventData<T>,
): Envelope =>
  ({ v: 1, session: SESSION, seq, id: `e${seq}`, at: '2026-11-30T10:00:00.000Z', type, agent, data }) as Envelope;

/** Writes a log row by row. */
export class LogWriter {
  readonly rows: Envelope[] = [];

  add<T extends EventType>(type: T, agent: EnvelopeOf<T>['agent'], data: EventData<T>): this {
    this.rows.push(envelope(this.rows.length, type, agent, data));
    return this;
  }

  start(): this {
    return this.add('SessionStarted', ROOT, {
      goal: 'résumé 😀',
      root: ROOT,
      namespace: 'default',
      taskQueue: 'apomesh',
      shape: { kind: 'solo' },
      pin: { kind: 'catalog', digest: ref(0).digest },
      durability: 'checkpointed',
    });
  }

  born(agent: string, parent: string | null, more: { task?: string; replaces?: string } = {}): this {
    const role = parent === null ? 'root' : 'worker';
    const { task = null, replaces = null } = more;
    return this.add('AgentLifecycle', agent, { phase: 'born', parent, role, task, config: { model: 'm' }, replaces });
  }
}

/** A session started and its root born. */
export const begun = (): LogWriter => new LogWriter().start().born(ROOT, null);

/** The log with rows put in at a place, numbered anew from there. */
export const insert = (log: readonly Envelope[], at: number, rows: readonly Envelope[]): Envelope[] =>
  [...log.slice(0, at), ...rows, ...log.slice(at)].map((row, seq) => ({ ...row, seq, id: `e${seq}` }));

const steps = [
  'born',
  'phase',
  'end',
  'snapshot',
  'resuming',
  'resumed',
  'generation',
  'started',
  'completed',
  'applied',
  'checkpoint',
  'job',
  'finish',
  'pause',
  'answer',
  'refused',
  'position',
  'evicted',
  'restored',
] as const;

const step = fc.record({
  step: fc.oneof(
    { weight: 40, arbitrary: fc.constantFrom(...steps) },
    { weight: 1, arbitrary: fc.constant('resume' as const) },
  ),
  who: fc.nat(1_000),
  what: fc.nat(1_000),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const pick = <T>(from: readonly T[], n: number): T | undefined => from[n % from.length];

/** Walks from one valid log to a longer one; a step that does not fit is left out. */
class Walker {
  readonly log: LogWriter;
  readonly #alive = [ROOT];
  readonly #known = [ROOT];
  readonly #epochs = new Map<string, number>();
  readonly #resuming = new Set<string>();
  readonly #jobs: string[] = [];
  readonly #pauses: string[] = [];
  #resumes = 0;
  #checkpoints = 0;
  #count = 1;

  constructor(started: boolean) {
    this.log = started ? begun() : new LogWriter().born(ROOT, null);
  }

  take({ step, who, what }: Step): void {
    const { log } = this;
    const agent = pick(this.#known, who) as string;
    const alive = pick(this.#alive, who) as string;
    const key = `sha256:key-${what % 7}`;
    const call = `c${what}`;
    const digests = ref(what);
    switch (step) {
      case 'born': {
        this.#count += 1;
        const suffix = this.#resumes > 0 ? `.r${this.#resumes}` : '';
        const child = `${SESSION}/worker-${this.#count}${suffix}`;
        log.born(child, agent, what % 2 ? { task: `t${what}` } : { replaces: agent });
        this.#known.push(child);
        this.#alive.push(child);
        return;
      }
      case 'phase':
        log.add('AgentLifecycle', alive, { phase: what % 2 ? 'running' : 'waiting' });
        return;
      case 'end':
        this.end(alive, what);
        return;
      case 'snapshot': {
        const source = pick(snapshotSources, what) ?? 'node';
        log.add('AgentSnapshot', agent, { ordinal: what, source, node: what, ref: digests });
        return;
      }
      case 'resuming': {
        const epoch = (this.#epochs.get(alive) ?? 0) + 1 + (what % 2);
        this.#epochs.set(alive, epoch);
        this.#resuming.add(alive);
        log.add('AgentResuming', alive, { epoch, snapshot: what % 2 ? what : null });
        return;
      }
      case 'resumed': {
        const late = pick([...this.#resuming], who);
        if (late === undefined) return;
        this.#resuming.delete(late);
        log.add('AgentResumed', late, { epoch: this.#epochs.get(late) ?? 0 });
        return;
      }
      case 'generation': {
        const usage = { inputTokens: what, ...(what % 3 ? { costUsd: what / 32 } : { outputTokens: what }) };
        const served = what % 4 ? 'fresh' : 'journal';
        log.add('GenerationCompleted', agent, { node: what, model: 'm', finish: 'stop', usage, served, ref: digests });
        return;
      }
      case 'started':
        log.add('ToolCallStarted', agent, { call, tool: 't', class: 'effect', key });
        return;
      case 'completed': {
        const outcome = pick(callOutcomes, what) ?? 'ok';
        const rest = { outcome, served: 'fresh', ref: digests } as const;
        log.add('ToolCallCompleted', agent, { call, tool: 't', class: what % 2 ? 'read' : 'effect', key, ...rest });
        return;
      }
      case 'applied':
        log.add('Applied', what % 5 ? agent : null, { op: 'spawn', key: `k${what % 11}` });
        return;
      case 'checkpoint':
        this.#checkpoints += 1 + (what % 3);
        log.add('CoordinatorCheckpoint', null, { ordinal: this.#checkpoints, kind: 'solo', blob: `${what}` });
        return;
      case 'job':
        this.#count += 1;
        this.#jobs.push(`j${this.#count}`);
        log.add('JobStarted', what % 5 ? agent : null, { job: `j${this.#count}`, call, tool: 't' });
        return;
      case 'finish': {
        const [job] = this.#jobs.splice(who % Math.max(1, this.#jobs.length), 1);
        if (job !== undefined) log.add('JobFinished', null, { job, outcome: 'ok', ref: digests });
        return;
      }
      case 'pause': {
        // A pause may be raised again once it was answered.
        const pause = `p${what % 20}`;
        if (this.#pauses.includes(pause)) return;
        this.#pauses.push(pause);
        const kind = pick(pauseKinds, what) ?? 'approval';
        log.add('PauseRaised', agent, { pause, kind, accepts: ['approve'], ...(what % 2 ? { call } : {}) });
        return;
      }
      case 'answer': {
        const [pause] = this.#pauses.splice(who % Math.max(1, this.#pauses.length), 1);
        if (pause !== undefined) log.add('PauseAnswered', agent, { pause, decision: 'approve', by: 'someone' });
        return;
      }
      case 'refused':
        log.add('AnswerRefused', null, { pause: 'px', why: 'unknown' });
        return;
      case 'position':
        log.add('PositionReported', agent, { era: what, firstCallSeq: '9007199254740993', ref: digests });
        return;
      case 'evicted':
        log.add('RuntimeEvicted', agent, { era: what });
        return;
      case 'restored':
        log.add('RuntimeRestored', agent, { era: what, replayed: what });
        return;
      case 'resume':
        this.#resumes += 1;
        log.add('SessionResumed', what % 2 ? ROOT : null, {
          resume: this.#resumes,
          cause: 'operator',
          checkpoint: null,
          effects: 'reuse',
        });
        return;
    }
  }

  end(agent: string, what: number, force = false): void {
    if (agent === ROOT && !force) return;
    this.#alive.splice(this.#alive.indexOf(agent), 1);
    this.#resuming.delete(agent);
    const phase = pick(terminalPhases, what) ?? 'completed';
    this.log.add('AgentLifecycle', agent, { phase, ...(what % 2 ? { output: ref(what) } : { reason: `why-${what}` }) });
  }
}

/** Valid logs, of every type of event, some without SessionStarted and some whose root has ended. */
export const validLogs = fc
  .record({ steps: fc.array(step, { maxLength: 80, size: 'max' }), started: fc.nat(9), ended: fc.boolean() })
  .map(({ steps, started, ended }) => {
    const walker = new Walker(started > 0);
    for (const step of steps) walker.take(step);
    if (ended) walker.end(ROOT, steps.length, true);
    return walker.log.rows;
  });
