import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatAgentRef, parseAgentRef, roleFault, sessionIdFault } from '../../../src/session/agent-ref.ts';
import { parseEnvelope } from '../../../src/session/envelopes.ts';
import { begun } from '../../support/logs.ts';

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
  .filter((text) => sessionIdFault(text) === null);
const parts = fc.record({ session: name, role: name, n: fc.nat(), resume: fc.nat(5) });

describe('AgentRef', () => {
  it('reads as session, role and number, and the resume that minted it', () => {
    expect(formatAgentRef({ session: 's-1', role: 'root', n: 1 })).toBe('s-1/root-1');
    expect(formatAgentRef({ session: 's-1', role: 'root', n: 2, resume: 3 })).toBe('s-1/root-2.r3');
    expect(parseAgentRef('s-1/code-reviewer-12.r3')).toEqual({
      session: 's-1',
      role: 'code-reviewer',
      n: 12,
      resume: 3,
    });
    for (const text of ['', 's-1', 's/root', '/root-1', 's/-1', 's/root-1.r0', 's/root-01', 's/a/b-1', 's/root-1.x']) {
      expect(parseAgentRef(text)).toBeNull();
    }
  });

  it('comes back from its text whatever the names, and fits an envelope', () => {
    fc.assert(
      fc.property(parts, (ref) => {
        const text = formatAgentRef(ref);
        expect(parseAgentRef(text)).toEqual(ref);
        expect(parseEnvelope({ ...begun().rows[1], agent: text })).toMatchObject({ agent: text });
      }),
    );
  });

  it('is not made of what would not come back', () => {
    expect(() => formatAgentRef({ session: 'a/b', role: 'root', n: 1 })).toThrow('slash');
    expect(() => formatAgentRef({ session: 's', role: '', n: 1 })).toThrow('empty');
    for (const n of [-1, 0.5]) expect(() => formatAgentRef({ session: 's', role: 'root', n })).toThrow(RangeError);
  });
});

describe('names', () => {
  it.each([
    ['', 'empty'],
    ['a/b', 'slash'],
    ['a\0b', 'control'],
    ['a\nb', 'control'],
    ['a\u0085b', 'control'],
    ['a\ud800', 'surrogate'],
    ['\udc00a', 'surrogate'],
    ['😀'.repeat(201), '200'],
    [null, 'null'],
    [7, 'number'],
  ])('%j is no session id, and the sentence says why', (id, why) => {
    expect(sessionIdFault(id)).toContain(why);
    expect(roleFault(id)).toContain(why);
    expect(sessionIdFault(id)).toMatch(/^a session id /);
  });

  it.each(['s-1', 'Incident 42: é😀', '__proto__', '$set', 'a.b', '..', '😀'.repeat(200)])(
    '%j is a session id',
    (id) => {
      expect(sessionIdFault(id)).toBeNull();
    },
  );
});
