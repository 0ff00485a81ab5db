import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from '../../../src/session/canonical-json.ts';
import { bodyDigest, bodyOf, sha256Hex } from '../../../src/session/digest.ts';
import { bodyRef } from '../../../src/session/envelopes.ts';
import { UnserializableValueError } from '../../../src/session/error.ts';

const nodeHex = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

describe('digests', () => {
  it('L7: sha256Hex is what Node computes of the UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => sha256Hex(text) === nodeHex(text)),
    );
  });

  it('L7: a body is its canonical JSON, and its reference the digest and length of those bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const { ref, json } = bodyOf(value);
        expect(json).toBe(canonicalJson(value));
        expect(ref).toEqual({ digest: `sha256:${nodeHex(json)}`, bytes: Buffer.byteLength(json) });
        expect(bodyRef.parse(ref)).toEqual(ref);
        expect(bodyDigest(value)).toBe(ref.digest);
      }),
    );
  });

  it('J5: what JSON cannot carry has no digest', () => {
    expect(() => bodyDigest({ a: Number.NaN })).toThrow(UnserializableValueError);
    expect(() => bodyOf([undefined])).toThrow(UnserializableValueError);
  });
});
