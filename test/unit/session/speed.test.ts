import { expect, it } from '@jest/globals';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { fold } from '../../../src/session/fold.ts';
import { begun, ROOT, ref, SESSION } from '../../support/logs.ts';

/** A long log of many agents, whose calls and keys are all different. */
function longLog(length: number, agents: number): Envelope[] {
  const log = begun();
  for (let n = 2; n <= agents; n++) log.born(`${SESSION}/worker-${n}`, ROOT);
  for (let i = 0; log.rows.length < length; i++) {
    const agent = agents < 2 ? ROOT : `${SESSION}/worker-${2 + (i % (agents - 1))}`;
    const tool = { call: `c${i}`, tool: 't', class: 'effect', key: `sha256:${i}` } as const;
    const usage = { inputTokens: 5, outputTokens: 3, costUsd: 0.25 };
    log
      .add('GenerationCompleted', agent, { node: i, model: 'm', finish: 'stop', usage, served: 'fresh', ref: ref(i) })
      .add('ToolCallStarted', agent, tool)
      .add('ToolCallCompleted', agent, { ...tool, outcome: 'ok', served: 'fresh', ref: ref(i) })
      .add('PauseRaised', agent, { pause: `p${i}`, kind: 'approval', accepts: ['approve'] })
      .add('PauseAnswered', null, { pause: `p${i}`, decision: 'approve' })
      .add('Applied', agent, { op: 'spawn', key: `k${i}` })
      .add('AgentSnapshot', agent, { ordinal: i, source: 'node', node: i, ref: ref(i) });
  }
  return log.rows.slice(0, length);
}

/** Processor time, which other processes on the machine do not stretch as they stretch time. The best of some runs. */
function millisecondsOf(act: () => unknown, runs = 3): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.cpuUsage();
    act();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

it.each([1, 50, 20_000])('F1: 100,000 envelopes of %d agents fold in under half a second', (agents) => {
  const log = longLog(100_000, agents);
  expect(millisecondsOf(() => fold(log))).toBeLessThan(500);
});

it('F1: fold is linear in the agents born, ended and superseded', () => {
  const log = begun();
  for (let n = 2; n <= 30_000; n++) log.born(`${SESSION}/worker-${n}`, ROOT);
  for (let n = 2; n <= 20_000; n++) log.add('AgentLifecycle', `${SESSION}/worker-${n}`, { phase: 'completed' });
  log.add('SessionResumed', ROOT, { resume: 1, cause: 'operator', checkpoint: null, effects: 'reuse' });
  expect(millisecondsOf(() => fold(log.rows))).toBeLessThan(500);
});
