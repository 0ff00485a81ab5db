import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { answerCommands, shellWord, signalCommand } from '../../../src/contract/commands.ts';

/** The words that a real shell makes of a command. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `for word in ${command}; do printf '%s\\0' "$word"; done`], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const hostile = [
  'plain',
  "it's",
  '$HOME `id` $(id) "x"',
  'a b\tc',
  '*',
  '~',
  '#x',
  '!x',
  '\\',
  "'''",
  'ü 😀',
  'a\nb',
  '-x',
  '',
];

describe('shellWord', () => {
  it.each(hostile)('makes one word of %j', (text) => {
    expect(wordsOf(`x ${shellWord(text)}`)).toEqual(['x', text]);
  });
});

describe('answerCommands', () => {
  it('H1: gives the signal as the Temporal command line takes it', () => {
    const { temporal } = answerCommands('s-1', 'approval-1', 'approve');
    expect(temporal).toBe(
      `temporal workflow signal --workflow-id s-1 --name answer --input '{"pause":"approval-1","decision":"approve"}'`,
    );
  });

  it.each([
    ['edit', { text: "it's" }, '--args', 'args'],
    ['happened', { id: 3 }, '--result', 'result'],
    ['happened', 'sent', '--result', 'result'],
  ])('gives what %s needs beside it', (decision, value, option, field) => {
    const { apomesh, temporal } = answerCommands('s-1', 'p', decision, value);
    expect(wordsOf(apomesh)).toEqual(['apomesh', 'answer', option, JSON.stringify(value), 's-1', 'p', decision]);
    const [, , , , , , , , input = ''] = wordsOf(temporal);
    expect(JSON.parse(input)).toEqual({ pause: 'p', decision, [field]: value });
  });

  it('gives the text of an answer as it is', () => {
    expect(wordsOf(answerCommands('s', 'p', 'answer', 'yes, please').apomesh)).toContain('yes, please');
  });

  it.each(hostile.filter((text) => text !== ''))('survives the session id %j', (session) => {
    const { apomesh, temporal } = answerCommands(session, 'p', 'approve');
    expect(wordsOf(apomesh).slice(-3)).toEqual([session, 'p', 'approve']);
    const id = wordsOf(temporal).slice(3, -4);
    expect(id.join('=').replace('--workflow-id=', '')).toBe(session);
  });
});

describe('signalCommand', () => {
  it('carries the whole answer', () => {
    const answer = { pause: 'p', decision: 'reject', by: "O'Neil", reason: '"no" & never' };
    expect(JSON.parse(wordsOf(signalCommand('s', answer)).at(-1) ?? '')).toEqual(answer);
  });
});
