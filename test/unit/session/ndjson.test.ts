import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fold } from '../../../src/session/fold.ts';
import { formatLog, parseLog, readLog } from '../../../src/session/ndjson.ts';
import { begun, LogWriter, ROOT, SESSION, validLogs } from '../../support/logs.ts';

const [first, second] = begun().rows.map((row) => JSON.stringify(row)) as [string, string];
const unreadableAt = (seq: number, why = '') =>
  expect.objectContaining({
    code: 'LOG_UNREADABLE',
    message: expect.stringContaining(why),
    fields: expect.objectContaining({ seq }),
  });

describe('a log as NDJSON', () => {
  it('L2: comes back as it was written', () => {
    fc.assert(
      fc.property(validLogs, (log) => {
        expect(parseLog(formatLog(log))).toEqual(log);
      }),
    );
    expect(parseLog('')).toEqual([]);
    expect(formatLog([])).toBe('');
  });

  it('L2: text of every kind stays on its line and comes back', () => {
    const blob = 'a\nb\r\n\u2028\u2029\0\ud800 "\\';
    const log = new LogWriter().add('CoordinatorCheckpoint', null, { ordinal: 1, kind: 'solo', blob }).rows;
    expect(formatLog(log).split('\n')).toHaveLength(2);
    expect(parseLog(formatLog(log))).toEqual(log);
  });

  it.each(['\n\n', '\r\n', '\r\n\r\n'])('empty lines (%j) are skipped', (ending) => {
    expect(parseLog(`\n${first}${ending}${second}`)).toEqual(begun().rows);
    expect(parseLog(`${first}${ending}${second}${ending}`)).toEqual(begun().rows);
  });

  it.each([
    ['what is not JSON', 'hello'],
    ['a line cut short', second.slice(0, -10)],
    ['garbage after the row', `${second} x`],
    ['two rows on a line', second + second],
    ['blanks', '  '],
    ['a byte order mark', `\ufeff${second}`],
    ['null', 'null'],
    ['a number', '7'],
    ['an array', `[${second}]`],
    ['an object of another kind', '{}'],
    ['a row without seq', second.replace('"seq":1,', '')],
    ['a seq of another kind', second.replace('"seq":1,', '"seq":"1",')],
    ['a fraction for seq', second.replace('"seq":1,', '"seq":1.5,')],
    ['a later seq', second.replace('"seq":1,', '"seq":7,')],
    ['an unknown type at a later seq', second.replace('"seq":1,', '"seq":7,').replace('AgentLifecycle', 'X')],
    ['a version of another kind', second.replace('"v":1', '"v":"1"')],
    ['no version', second.replace('"v":1,', '')],
    ['a type that objects inherit', second.replace('AgentLifecycle', 'constructor')],
    ['an unknown phase', second.replace('"born"', '"zombie"')],
    ['a missing field', second.replace('"replaces":null', '"x":1')],
    ['an agent that is no AgentRef', second.replace(`"agent":"${ROOT}"`, '"agent":"root"')],
    ['no agent', second.replace(`"agent":"${ROOT}"`, '"agent":null')],
    ['a time that is none', second.replace('2026-11-30T', '2026-13-30T')],
    ['an empty id', second.replace('"id":"e1"', '"id":""')],
  ])('L8: %s is unreadable at the seq expected', (_name, line) => {
    expect(line).not.toBe(second);
    expect(() => parseLog(`${first}\n${line}\n`)).toThrow(unreadableAt(1));
    expect(() => parseLog(line)).toThrow(unreadableAt(0));
  });

  it('L8: unknown fields of known types are ignored', () => {
    const more = second.replace('"phase":"born"', '"phase":"born","news":1').replace('"v":1', '"v":1,"news":{}');
    expect(fold(parseLog(`${first}\n${more}`))).toEqual(fold(begun().rows));
  });

  it('L8: the first fault is reported, though a later line cannot even be parsed', () => {
    const log = begun().add('PauseAnswered', null, { pause: 'p', decision: 'approve' }).rows;
    expect(() => fold(readLog(`${formatLog(log)}nonsense`))).toThrow(unreadableAt(2, 'pause p'));
  });

  it('L8: the error names the session', () => {
    expect(() => parseLog(`${first}\nnonsense`)).toThrow(`session ${SESSION} cannot be read at seq 1`);
  });
});
