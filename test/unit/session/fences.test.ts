import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Envelope } from '../../../src/session/envelopes.ts';
import { advance, type Fences, isFenced, noFences } from '../../../src/session/fences.ts';
import { fold } from '../../../src/session/fold.ts';
import { begun, type LogWriter, ROOT, SESSION, validLogs } from '../../support/logs.ts';

const WORKER = `${SESSION}/worker-2`;

function fencesOf(rows: readonly Envelope[]): Fences {
  const fences = noFences(SESSION);
  for (const row of rows) advance(fences, row);
  return fences;
}

const resumed = (log: LogWriter, resume: number): LogWriter =>
  log.add('SessionResumed', null, { resume, cause: 'operator', checkpoint: null, effects: 'reuse' });

describe('fences', () => {
  it('W4: a higher epoch of its agent fences a writer, of that agent only', () => {
    const log = begun().born(WORKER, ROOT).add('AgentResuming', WORKER, { epoch: 2, snapshot: null });
    const fences = fencesOf(log.rows);
    expect(isFenced(fences, WORKER, { resume: 0, epoch: 1 })).toBe(true);
    expect(isFenced(fences, WORKER, { resume: 0, epoch: 2 })).toBe(false);
    expect(isFenced(fences, ROOT, { resume: 0, epoch: 0 })).toBe(false);
    expect(isFenced(fences, null, { resume: 0, epoch: 0 })).toBe(false);
  });

  it('W4: a resume fences every older writer, the coordinator included', () => {
    const fences = fencesOf(resumed(begun().born(WORKER, ROOT), 1).rows);
    for (const agent of [ROOT, WORKER, `${SESSION}/worker-9`, null]) {
      expect(isFenced(fences, agent, { resume: 0, epoch: 99 })).toBe(true);
      expect(isFenced(fences, agent, { resume: 1, epoch: 0 })).toBe(false);
    }
  });

  it('W4: (resume, epoch) is compared in that order', () => {
    const log = resumed(begun().add('AgentResuming', ROOT, { epoch: 5, snapshot: null }), 1);
    expect(isFenced(fencesOf(log.rows), ROOT, { resume: 1, epoch: 0 })).toBe(false);
    log.add('AgentResuming', ROOT, { epoch: 6, snapshot: null });
    expect(isFenced(fencesOf(log.rows), ROOT, { resume: 1, epoch: 5 })).toBe(true);
    expect(isFenced(fencesOf(log.rows), ROOT, { resume: 1, epoch: 6 })).toBe(false);
    expect(isFenced(fencesOf(log.rows), ROOT, { resume: 0, epoch: 7 })).toBe(true);
  });

  it("F3: the root's terminal phase closes the log, and no other agent's does", () => {
    const log = begun().born(WORKER, ROOT).add('AgentLifecycle', WORKER, { phase: 'failed' });
    expect(fencesOf(log.rows).terminal).toBeNull();
    log.add('AgentLifecycle', ROOT, { phase: 'exhausted' });
    expect(fencesOf(log.rows).terminal).toBe('exhausted');
  });

  it('W4: agrees with the fold on any log', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        const view = fold(log);
        const fences = fencesOf(log);
        expect(fences.resumes).toBe(view.resumes);
        expect(fences.root).toBe(view.root);
        expect(fences.terminal !== null).toBe(view.terminal);
        for (const agent of Object.values(view.agents)) {
          expect(fences.dispatches.get(agent.ref)?.epoch ?? 0).toBe(agent.epoch);
          expect(isFenced(fences, agent.ref, { resume: view.resumes, epoch: agent.epoch })).toBe(false);
        }
      }),
    );
  });
});
