import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { draw, randomOf, sessionSeed, stepSeed, uuidOf } from '../../../src/determinism/randomness.ts';

interface Vector {
  scope: string;
  seed: string;
  steps: { callSeq: string; random: number[]; uuidAtDraw3: string }[];
}
const vectors: { tier1: Vector[] } = JSON.parse(
  readFileSync(new URL('../../vectors/determinism.json', import.meta.url), 'utf8'),
);
const digits = (fill: string): string => fill.repeat(64);
const anyDraw = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });

describe('randomness', () => {
  it.each(vectors.tier1)('T1: seed, draws and UUIDs of scope $scope', ({ scope, seed, steps }) => {
    expect(sessionSeed(scope)).toBe(seed);
    for (const { callSeq, random, uuidAtDraw3 } of steps) {
      const step = stepSeed(seed, BigInt(callSeq));
      expect(stepSeed(seed, Number(callSeq))).toBe(step);
      expect(random.map((_, i) => randomOf(draw(step, i)))).toEqual(random);
      expect(uuidOf(draw(step, 3))).toBe(uuidAtDraw3);
      expect(uuidOf(draw(step, 3n))).toBe(uuidAtDraw3);
    }
  });

  it('T1: random() is the first 53 bits over 2^53', () => {
    expect(randomOf(digits('0'))).toBe(0);
    expect(randomOf(digits('f'))).toBe(1 - 2 ** -53);
    expect(randomOf(`8${'0'.repeat(63)}`)).toBe(0.5);
    fc.assert(
      fc.property(anyDraw, (drawn) => randomOf(drawn) === Number(BigInt(`0x${drawn.slice(0, 14)}`) >> 3n) / 2 ** 53),
    );
  });

  it('T1: uuid() is a version-4 UUID of the first 16 bytes', () => {
    expect(uuidOf(digits('0'))).toBe('00000000-0000-4000-8000-000000000000');
    expect(uuidOf(digits('f'))).toBe('ffffffff-ffff-4fff-bfff-ffffffffffff');
    fc.assert(
      fc.property(anyDraw, (drawn) => {
        expect(uuidOf(drawn)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(uuidOf(drawn).startsWith(drawn.slice(0, 8))).toBe(true);
      }),
    );
  });

  it('T1: a count has 64 bits, and numbers must carry it exactly', () => {
    const seed = digits('a');
    expect(stepSeed(seed, 2n ** 64n - 1n)).toMatch(/^[0-9a-f]{64}$/);
    expect(stepSeed(seed, 2n ** 53n + 1n)).not.toBe(stepSeed(seed, 2n ** 53n));
    for (const count of [-1, -1n, 0.5, 2 ** 53, 2n ** 64n, Number.NaN]) {
      expect(() => stepSeed(seed, count)).toThrow(RangeError);
      expect(() => draw(seed, count)).toThrow(RangeError);
    }
  });

  it('T1: a seed is 64 lower-case hex digits, and a scope is text that UTF-8 carries', () => {
    for (const bad of ['', 'ab', digits('A'), `${digits('a')}00`, digits('g')]) {
      expect(() => stepSeed(bad, 0)).toThrow(RangeError);
      expect(() => draw(bad, 0)).toThrow(RangeError);
      expect(() => randomOf(bad)).toThrow(RangeError);
      expect(() => uuidOf(bad)).toThrow(RangeError);
    }
    expect(() => sessionSeed('a\ud800')).toThrow(RangeError);
  });
});
