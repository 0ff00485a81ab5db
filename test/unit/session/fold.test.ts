import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Envelope, type EventType, isTerminalPhase } from '../../../src/session/envelopes.ts';
import { bootstrap, evolve, fold } from '../../../src/session/fold.ts';
import { empty, type SessionView } from '../../../src/session/view.ts';
import { begun, LogWriter, ROOT, ref, SESSION, validLogs } from '../../support/logs.ts';

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key]);
  }
  return value;
}

const child = (n: number): string => `${SESSION}/worker-${n}`;

describe('fold and evolve', () => {
  it('F1: the generated logs hold every type of event', () => {
    const types = new Set(
      fc.sample(validLogs, { numRuns: 100, seed: 1 }).flatMap((log) => log.map(({ type }) => type)),
    );
    const all: Record<EventType, true> = {
      SessionStarted: true,
      SessionResumed: true,
      AgentLifecycle: true,
      AgentSnapshot: true,
      AgentResuming: true,
      AgentResumed: true,
      GenerationCompleted: true,
      ToolCallStarted: true,
      ToolCallCompleted: true,
      Applied: true,
      CoordinatorCheckpoint: true,
      JobStarted: true,
      JobFinished: true,
      PauseRaised: true,
      PauseAnswered: true,
      AnswerRefused: true,
      PositionReported: true,
      RuntimeEvicted: true,
      RuntimeRestored: true,
    };
    expect([...types].sort()).toEqual(Object.keys(all).sort());
  });

  it('F1: fold is reduce(evolve, empty), at every prefix', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        let view = empty;
        for (const [i, envelope] of log.entries()) {
          view = evolve(view, envelope);
          expect(view).toEqual(fold(log.slice(0, i + 1)));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('F1: folding a prefix and then the rest gives the same view, by any branch', () => {
    fc.assert(
      fc.property(validLogs, fc.nat(100), (log, at) => {
        const prefix = fold(log.slice(0, at));
        const rest = log.slice(at);
        const whole = fold(log);
        expect(rest.reduce(evolve, prefix)).toEqual(whole);
        // A second walk from the same view meets none of what the first one left behind.
        expect(rest.reduce(evolve, prefix)).toEqual(whole);
      }),
    );
  });

  it('F1: evolve never changes the view it is given, and takes a frozen one', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        let view: SessionView = empty;
        const seen: [SessionView, string][] = [];
        for (const envelope of deepFreeze(log)) {
          view = deepFreeze(evolve(view, envelope));
          seen.push([view, JSON.stringify(view)]);
        }
        for (const [earlier, json] of seen) expect(JSON.stringify(earlier)).toBe(json);
      }),
      { numRuns: 40 },
    );
  });

  it('F1: a view is plain JSON, and folding leaves the envelopes alone', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        const before = JSON.stringify(log);
        const view = fold(deepFreeze(log));
        expect(JSON.parse(JSON.stringify(view))).toStrictEqual(view);
        expect(JSON.stringify(log)).toBe(before);
      }),
    );
  });

  it('F2: totals agree with what the log says, counted another way', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        const view = fold(log);
        expect({
          applied: view.applied,
          sideEffects: view.sideEffects,
          inFlight: view.inFlight,
          pauses: view.pauses.map(({ pause }) => pause),
          agents: Object.keys(view.agents),
          tokens: view.usage.inputTokens,
          terminal: view.terminal,
        }).toEqual(countAnotherWay(log));
        const spent = Object.values(view.agents).reduce((sum, agent) => sum + agent.usage.inputTokens, 0);
        expect(spent).toBe(view.usage.inputTokens);
        for (const agent of Object.values(view.agents)) {
          expect(agent.children).toEqual(
            Object.values(view.agents)
              .filter(({ parent }) => parent === agent.ref)
              .map(({ ref }) => ref),
          );
        }
      }),
    );
  });

  it('E7: an effect key counts once, also where two continuations of a view start different ones', () => {
    const started = (seq: number, key: string): Envelope =>
      ({
        ...begun().add('ToolCallStarted', ROOT, { call: 'c', tool: 't', class: 'effect', key }).rows[2],
        seq,
      }) as Envelope;
    const base = evolve(fold(begun().rows), started(2, 'a'));
    const left = evolve(base, started(3, 'left'));
    const right = evolve(base, started(3, 'right'));
    expect([left, right].map(({ sideEffects }) => sideEffects)).toEqual([2, 2]);
    expect(evolve(right, started(4, 'left')).sideEffects).toBe(3);
    expect(evolve(left, started(4, 'left')).sideEffects).toBe(2);
    expect(evolve(right, started(4, 'a')).sideEffects).toBe(2);
  });

  it('E7: a copy of a view does not know its effect keys, so evolve refuses it', () => {
    const log = begun().add('ToolCallStarted', ROOT, { call: 'c', tool: 't', class: 'effect', key: 'a' }).rows;
    const copy = JSON.parse(JSON.stringify(fold(log)));
    const next = begun().add('RuntimeEvicted', ROOT, { era: 1 }).rows[2] as Envelope;
    expect(() => evolve(copy, { ...next, seq: 3 })).toThrow(TypeError);
    const harmless = JSON.parse(JSON.stringify(fold(begun().add('Applied', ROOT, { op: 'spawn', key: 'k' }).rows)));
    const applied = { ...begun().add('Applied', ROOT, { op: 'spawn', key: 'k' }).rows[2], seq: 3 } as Envelope;
    expect(evolve(harmless, applied).applied).toEqual(['k']);
  });

  it('F2: a log without SessionStarted folds, the first agent born under no parent being the root', () => {
    const log = new LogWriter().add('CoordinatorCheckpoint', null, { ordinal: 0, kind: 'solo', blob: 'b' });
    expect(fold(log.rows)).toMatchObject({ bootstrap: null, root: null, checkpoint: { seq: 0, ordinal: 0 } });
    log.born(child(5), null).born(child(6), null).add('AgentLifecycle', child(6), { phase: 'failed', reason: 'x' });
    expect(fold(log.rows)).toMatchObject({ root: child(5), terminal: false, inFlight: [] });
    log.add('AgentLifecycle', child(5), { phase: 'exhausted', reason: 'maxSteps' });
    expect(fold(log.rows)).toMatchObject({ bootstrap: null, terminal: true, reason: 'maxSteps' });
  });

  it('R3: a resume supersedes every agent but the root that is not terminal', () => {
    const log = begun()
      .born(child(2), ROOT)
      .born(child(3), ROOT)
      .add('AgentLifecycle', child(3), { phase: 'completed', output: ref(3) })
      .add('SessionResumed', ROOT, { resume: 1, cause: 'boot-scan', checkpoint: null, effects: 'reuse' })
      .born(`${child(2)}.r1`, ROOT, { replaces: child(2) });
    const view = fold(log.rows);
    expect(Object.values(view.agents).map(({ superseded }) => superseded)).toEqual([false, true, false, false]);
    expect(view.inFlight).toEqual([`${child(2)}.r1`]);
    expect(view.agents[`${child(2)}.r1`]?.replaces).toBe(child(2));
    expect(view.resumes).toBe(1);
    log.add('AgentLifecycle', child(2), { phase: 'cancelled' });
    expect(fold(log.rows).inFlight).toEqual([`${child(2)}.r1`]);
  });

  it('W3: an agent is resuming from AgentResuming to AgentResumed or its end', () => {
    const log = begun().add('AgentResuming', ROOT, { epoch: 3, snapshot: null });
    expect(fold(log.rows).agents[ROOT]).toMatchObject({ epoch: 3, resuming: true });
    log.add('AgentResumed', ROOT, { epoch: 3 });
    expect(fold(log.rows).agents[ROOT]).toMatchObject({ epoch: 3, resuming: false });
    log.add('AgentResuming', ROOT, { epoch: 4, snapshot: null }).add('AgentLifecycle', ROOT, { phase: 'failed' });
    expect(fold(log.rows).agents[ROOT]).toMatchObject({ epoch: 4, resuming: false });
  });

  it('R7: jobs and pauses stay open over a resume, in the order they were raised', () => {
    const pause = (id: string) => ({ pause: id, kind: 'approval' as const, accepts: ['approve'] });
    const log = begun()
      .add('PauseRaised', ROOT, pause('a'))
      .add('PauseRaised', ROOT, { ...pause('b'), call: 'c1' })
      .add('JobStarted', null, { job: 'j', call: 'c', tool: 't' })
      .add('SessionResumed', null, { resume: 1, cause: 'operator', checkpoint: null, effects: 'rerun' })
      .add('PauseAnswered', null, { pause: 'a', decision: 'withdrawn' })
      .add('PauseRaised', ROOT, pause('a'));
    const view = fold(log.rows);
    expect(view.pauses).toEqual([
      { ...pause('b'), call: 'c1', agent: ROOT },
      { ...pause('a'), call: null, agent: ROOT },
    ]);
    expect(view.jobs).toEqual([{ job: 'j', call: 'c', tool: 't', agent: null }]);
    expect(view.sideEffects).toBe(1);
  });

  it('F4: the bootstrap view is on the first envelope, and reads no further', () => {
    function* endless(): Generator<Envelope> {
      yield* begun().rows.slice(0, 1);
      throw new Error('read too far');
    }
    expect(bootstrap(endless())).toEqual({
      goal: 'résumé 😀',
      root: ROOT,
      namespace: 'default',
      taskQueue: 'apomesh',
      shape: { kind: 'solo' },
      pin: { kind: 'catalog', digest: ref(0).digest },
      durability: 'checkpointed',
    });
    expect(bootstrap(new LogWriter().born(ROOT, null).rows)).toBeNull();
    expect(bootstrap([])).toBeNull();
  });

  it('F1: agents named like what objects inherit are no agents', () => {
    const log = begun().rows;
    const row = (agent: string): Envelope => ({ ...log[1], seq: 2, agent, data: { phase: 'running' } }) as Envelope;
    for (const name of ['constructor', '__proto__'])
      expect(() => fold([...log, row(name)])).toThrow('before its birth');
  });
});

function countAnotherWay(log: readonly Envelope[]): object {
  const of = <T extends EventType>(type: T) =>
    log.filter((row): row is Extract<Envelope, { type: T }> => row.type === type);
  const lifecycle = of('AgentLifecycle');
  const born = lifecycle.filter(({ data }) => data.phase === 'born').map(({ agent }) => agent);
  const ended = lifecycle.filter(({ data }) => isTerminalPhase(data.phase)).map(({ agent }) => agent);
  const lastResume = of('SessionResumed').at(-1)?.seq ?? -1;
  const bornSince = lifecycle
    .filter(({ data, seq }) => data.phase === 'born' && seq > lastResume)
    .map(({ agent }) => agent);
  const pauses: string[] = [];
  for (const row of log) {
    if (row.type === 'PauseRaised') pauses.push(row.data.pause);
    if (row.type === 'PauseAnswered') pauses.splice(pauses.indexOf(row.data.pause), 1);
  }
  return {
    applied: [...new Set(of('Applied').map(({ data }) => data.key))],
    sideEffects: new Set(of('ToolCallStarted').map(({ data }) => data.key)).size + of('JobStarted').length,
    inFlight: bornSince.filter((agent) => agent !== ROOT && !ended.includes(agent)),
    pauses,
    agents: born,
    tokens: of('GenerationCompleted')
      .filter(({ data }) => data.served === 'fresh')
      .reduce((sum, { data }) => sum + (data.usage.inputTokens ?? 0), 0),
    terminal: ended.includes(ROOT),
  };
}
