import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventLine } from '../../../src/cli/event-line.ts';
import { pauseLines } from '../../../src/cli/pause-lines.ts';
import { columns, harmless, shortened } from '../../../src/cli/terminal.ts';
import { parseLog } from '../../../src/session/ndjson.ts';
import { begun, ROOT } from '../../support/logs.ts';

const folder = join(import.meta.dirname, '..', '..', 'vectors', 'logs');
const logs = readdirSync(folder).filter((name) => name.endsWith('.ndjson') && !name.includes('.bad-'));

describe('eventLine', () => {
  it.each(logs)('puts every envelope of %s on one line, with its seq and type', (name) => {
    for (const envelope of parseLog(readFileSync(join(folder, name), 'utf8'))) {
      const line = eventLine(envelope);
      expect(line).toMatch(new RegExp(`^ *${envelope.seq} \\d\\d:\\d\\d:\\d\\d\\.\\d{3} \\S+ ${envelope.type}( |$)`));
      for (const wrong of ['\n', '\u001b', 'undefined', '[object']) expect(line).not.toContain(wrong);
    }
  });

  it('says what matters of an event', () => {
    const digest = `sha256:${'ab'.repeat(32)}`;
    const [, , generation, pause] = begun()
      .add('GenerationCompleted', ROOT, {
        node: 3,
        model: 'openai/gpt',
        finish: 'stop',
        usage: { inputTokens: 10, costUsd: 0.5 },
        served: 'fresh',
        ref: { digest, bytes: 7 },
      })
      .add('PauseRaised', ROOT, { pause: 'p-1', kind: 'approval', tool: 'save', accepts: ['approve', 'reject'] })
      .rows.map(eventLine);
    expect(generation).toMatch(/root-1 GenerationCompleted node 3 openai\/gpt stop, 10\+0 tokens, \$0\.5000$/);
    expect(pause).toMatch(/PauseRaised {9}p-1 approval of save, accepts approve, reject$/);
  });

  it('lets nothing through that steers a terminal', () => {
    const refused = begun().add('AnswerRefused', ROOT, { pause: 'p', why: 'a\u001b[2Jb\u202ec\u009bd' }).rows.at(-1);
    expect(refused && eventLine(refused)).toMatch(/p: a�\[2Jb�c�d$/);
  });
});

describe('pauseLines', () => {
  it('shows what is asked, and a command a decision', () => {
    const lines = pauseLines({
      session: 's-1',
      pause: 'p-1',
      kind: 'in-doubt',
      agent: ROOT,
      call: '1.0',
      tool: 'save',
      args: { text: 'x' },
      why: 'the worker was lost',
      accepts: ['retry', 'fail'],
      at: '2026-11-30T10:00:00.000Z',
      commands: {
        retry: { apomesh: 'apomesh answer s-1 p-1 retry', temporal: '' },
        fail: { apomesh: 'apomesh answer s-1 p-1 fail', temporal: '' },
      },
    });
    expect(lines).toEqual([
      'p-1  in-doubt of save, session s-1, since 2026-11-30 10:00:00',
      '  why   the worker was lost',
      '  args  {"text":"x"}',
      '  $ apomesh answer s-1 p-1 retry',
      '  $ apomesh answer s-1 p-1 fail',
      '  fail may be given --reason TEXT, which the agent sees',
    ]);
  });
});

describe('what a terminal shows', () => {
  it('stands in columns', () => {
    expect(
      columns([
        ['a', 'bb', 'c'],
        ['aaa', 'b', 'ccc'],
      ]),
    ).toEqual(['a    bb  c', 'aaa  b   ccc']);
  });

  it('is shortened by characters, on one line', () => {
    expect(shortened(' a\n\tb  c ', 10)).toBe('a b c');
    expect(shortened('😀😀😀😀', 3)).toBe('😀😀…');
  });

  it('keeps new lines and tabs', () => {
    expect(harmless('a\n\tb\r\0')).toBe('a\n\tb��');
  });
});
