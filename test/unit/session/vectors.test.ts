import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { LogUnreadableError } from '../../../src/session/error.ts';
import { evolve, fold } from '../../../src/session/fold.ts';
import { formatLog, parseLog, readLog } from '../../../src/session/ndjson.ts';
import { empty } from '../../../src/session/view.ts';

const folder = new URL('../../vectors/logs/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8');
const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
const valid = names.filter((name) => !name.includes('.bad-'));

/** The seq at which each broken log stops making sense. */
const broken: Readonly<Record<string, number>> = {
  '000.bad-again.ndjson': 1,
  '001.bad-agentless.ndjson': 1,
  '002.bad-drop.ndjson': 5,
  '003.bad-type.ndjson': 10,
  '004.bad-again.ndjson': 1,
  '005.bad-v.ndjson': 3,
  '006.bad-drop.ndjson': 1,
  '007.bad-session.ndjson': 3,
};

describe('F1: valid logs give exactly their view', () => {
  it.each(valid)('%s', (name) => {
    const view = JSON.parse(read(name.replace('.ndjson', '.view.json')));
    const envelopes = parseLog(read(name));
    expect(fold(envelopes)).toStrictEqual(view);
    expect(JSON.stringify(fold(envelopes))).toBe(JSON.stringify(view));
    expect(envelopes.reduce(evolve, empty)).toStrictEqual(view);
    expect(parseLog(formatLog(envelopes))).toEqual(envelopes);
  });
});

describe('L8: broken logs are refused, naming session and seq', () => {
  it('L8: every broken log of the collection is looked at', () => {
    expect(Object.keys(broken)).toEqual(names.filter((name) => !valid.includes(name)));
  });

  it.each(Object.entries(broken))('%s at %d', (name, seq) => {
    const session = `s-12-${Number(name.slice(0, 3))}`;
    expect(() => fold(readLog(read(name)))).toThrow(LogUnreadableError);
    expect(() => fold(readLog(read(name)))).toThrow(
      expect.objectContaining({ code: 'LOG_UNREADABLE', fields: expect.objectContaining({ session, seq }) }),
    );
  });
});
