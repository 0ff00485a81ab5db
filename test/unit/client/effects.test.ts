import { describe, expect, it } from '@jest/globals';
import { effectLines, effectRows } from '../../../src/cli/effect-lines.ts';
import { effectRecords, effectsOf } from '../../../src/client/effects.ts';
import { bodyDigest } from '../../../src/session/digest.ts';
import type { CallOutcome, ToolClass } from '../../../src/session/envelopes.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { begun, type LogWriter, ROOT, SESSION } from '../../support/logs.ts';
import { writeBody } from '../../support/written.ts';

const AT = '2026-11-30T10:00:00.000Z';
const stores = memoryStores();
const keyOf = (call: string): string => bodyDigest(call);
const inputs = [{ to: 'ann' }, { to: 'bob' }, { to: 'eve' }, { to: 'joe' }, { to: 'kim' }, { to: 'may' }];

const started = (log: LogWriter, call: string, args: object): LogWriter =>
  log.add('ToolCallStarted', ROOT, { call, tool: 'pay', class: 'effect', key: keyOf(call), args: bodyDigest(args) });

async function completed(
  log: LogWriter,
  call: string,
  outcome: CallOutcome,
  result: unknown,
  as: ToolClass = 'effect',
): Promise<void> {
  const ref = await writeBody(stores, SESSION, 'messages', result);
  const tool = as === 'effect' ? 'pay' : 'look';
  log.add('ToolCallCompleted', ROOT, { call, tool, class: as, key: keyOf(call), outcome, served: 'fresh', ref });
}

/** A node of six calls: one as asked, one edited, one denied, one in doubt, one that failed and was begun twice, one that runs; and a read. */
async function log() {
  const calls = inputs.map((input, i) => ({ call: `1.${i}`, input }));
  const ref = await writeBody(stores, SESSION, 'messages', { v: 1, node: 1, calls });
  const usage = { inputTokens: 1 };
  const log = begun().add('GenerationCompleted', ROOT, {
    ...{ node: 1, model: 'm', finish: 'tool-calls', usage, served: 'fresh', ref },
  });
  await completed(started(log, '1.0', { to: 'ann' }), '1.0', 'ok', { receipt: 7 });
  const pause = 'approval-1';
  log.add('PauseRaised', ROOT, { pause, kind: 'approval', call: '1.1', accepts: ['edit'], key: keyOf('1.1') });
  const edited = await writeBody(stores, SESSION, 'bodies', { args: { to: 'bobby' } });
  log.add('PauseAnswered', ROOT, { pause, decision: 'edit', ref: edited });
  await completed(started(log, '1.1', { to: 'bobby' }), '1.1', 'ok', null);
  await completed(log, '1.2', 'denied', 'denied by me');
  started(log, '1.3', { to: 'joe' });
  await completed(started(started(log, '1.4', { to: 'kim' }), '1.4', { to: 'kim' }), '1.4', 'error', 'no funds');
  log.add('AgentResuming', ROOT, { epoch: 1, snapshot: null });
  const accepts = ['happened', 'retry', 'fail'];
  log.add('PauseRaised', ROOT, { pause: 'in-doubt-1', kind: 'in-doubt', call: '1.3', accepts, key: keyOf('1.3') });
  started(log, '1.5', { to: 'may' });
  await completed(log, '1.6', 'ok', 'seen', 'read');
  const json = '{"receipt":8}';
  const late = { id: 'late', session: SESSION, agent: ROOT, call: '1.3', tool: 'pay', key: keyOf('1.3'), at: AT };
  await stores.write([{ into: 'effects', ...late, epoch: 0, outcome: 'ok', json }]);
  return log.rows;
}

describe('the effects of a session', () => {
  it('E3, E4: are those that were begun, each once, with what became of it', async () => {
    const rows = await log();
    const found = effectsOf(rows);
    expect(found.map(({ call, begun, outcome, inDoubt }) => [call, begun, outcome, inDoubt])).toEqual([
      ['1.0', 1, 'ok', null],
      ['1.1', 1, 'ok', null],
      ['1.3', 1, null, 'in-doubt-1'],
      ['1.4', 2, 'error', null],
      ['1.5', 1, null, null],
    ]);
    const texts = effectRows(found);
    for (const [i, became] of ['ok', 'ok', 'in doubt', 'error', 'no outcome'].entries())
      expect(texts[i]).toMatch(new RegExp(`^${found[i]?.seq} +pay +${became} +${found[i]?.key.slice(0, 15)}`));
  });

  it('have the arguments that ran, the result, and what came late', async () => {
    const rows = await log();
    const records = await effectRecords(stores, SESSION, rows);
    expect(records.map(({ call, args, result }) => [call, args, result])).toEqual([
      ['1.0', { to: 'ann' }, { receipt: 7 }],
      ['1.1', { to: 'bobby' }, null],
      ['1.3', { to: 'joe' }, null],
      ['1.4', { to: 'kim' }, 'no funds'],
      ['1.5', { to: 'may' }, null],
    ]);
    expect(records.map(({ late }) => late.length)).toEqual([0, 0, 1, 0, 0]);
    expect(records[2]?.late).toEqual([{ epoch: 0, outcome: 'ok', result: { receipt: 8 }, at: AT }]);
    const text = effectLines(records).join('\n');
    for (const part of ['{"to":"bobby"}', '{"receipt":7}', 'in-doubt-1', 'not served: {"receipt":8}', 'begun 2 times'])
      expect(text).toContain(part);
    expect(effectLines([])).toEqual([]);
  });

  it('count a doubt that was answered no longer', async () => {
    const rows = await log();
    const answered = begun().add('PauseAnswered', ROOT, { pause: 'in-doubt-1', decision: 'retry' }).rows.slice(-1);
    expect(effectsOf([...rows, ...answered]).find(({ call }) => call === '1.3')?.inDoubt).toBeNull();
  });
});
