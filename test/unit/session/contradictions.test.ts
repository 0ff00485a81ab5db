import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isTerminalPhase } from '../../../src/session/envelopes.ts';
import { LogUnreadableError } from '../../../src/session/error.ts';
import { evolve, fold } from '../../../src/session/fold.ts';
import { formatLog, readLog } from '../../../src/session/ndjson.ts';
import { empty } from '../../../src/session/view.ts';
import { type Broken, breaks } from '../../support/broken-logs.ts';
import { begun, LogWriter, ROOT, SESSION, validLogs } from '../../support/logs.ts';

/** The seq that a log is refused at, or null; folding, evolving and reading it from a file must agree. */
function refusedAt({ rows }: Pick<Broken, 'rows'>): unknown {
  const ways = [() => fold(rows), () => rows.reduce(evolve, empty), () => fold(readLog(formatLog(rows)))];
  const seqs = ways.map((way) => {
    try {
      way();
      return null;
    } catch (error) {
      if (!(error instanceof LogUnreadableError)) throw error;
      expect(error.fields['session']).toBe(SESSION);
      return error.fields['seq'];
    }
  });
  expect(new Set(seqs).size).toBe(1);
  return seqs[0];
}

describe('L8: an event that contradicts what came before it makes the log unreadable', () => {
  it.each(Object.entries(breaks))('L8: %s', (_name, make) => {
    expect(refusedAt(begun())).toBeNull();
    const { rows, seq } = make(begun().rows, 2);
    expect(refusedAt({ rows })).toBe(seq);
  });

  it.each(Object.entries(breaks))('L8: %s, in any log', (_name, make) => {
    fc.assert(
      fc.property(validLogs, fc.nat(), (log, n) => {
        expect(refusedAt({ rows: log })).toBeNull();
        const over = log.findIndex(({ agent, type, data }) => {
          return agent === ROOT && type === 'AgentLifecycle' && isTerminalPhase(data.phase);
        });
        const open = over < 0 ? log : log.slice(0, over);
        const born = open.findIndex(({ type }) => type === 'AgentLifecycle') + 1;
        const { rows, seq } = make(open, born + (n % (open.length - born + 1)));
        expect(refusedAt({ rows })).toBe(seq);
      }),
      { numRuns: 10 },
    );
  });

  it('L8: SessionStarted that comes second though the first row is something else', () => {
    const log = new LogWriter().add('CoordinatorCheckpoint', null, { ordinal: 1, kind: 'solo', blob: '' }).start();
    expect(refusedAt(log)).toBe(1);
  });

  it('L8: SessionStarted may name the root, and no other agent', () => {
    const [first] = begun().rows;
    expect(refusedAt({ rows: [{ ...first, agent: null } as typeof first & object] })).toBeNull();
    expect(refusedAt({ rows: [{ ...first, agent: `${SESSION}/worker-2` } as typeof first & object] })).toBe(0);
  });

  it('L8: the root may be heard of only after its birth', () => {
    const log = new LogWriter()
      .start()
      .add('SessionResumed', ROOT, { resume: 1, cause: 'operator', checkpoint: null, effects: 'reuse' });
    expect(refusedAt(log)).toBe(1);
  });
});
