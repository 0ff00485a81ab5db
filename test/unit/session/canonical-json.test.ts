import vm from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { assertJson, canonicalJson } from '../../../src/session/canonical-json.ts';
import { UnserializableValueError } from '../../../src/session/error.ts';

class Point {
  x = 1;
}
class Row extends Array<number> {}

const withSymbol = { a: 1, [Symbol('s')]: 2 };
const hidden = Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false });
const holey = [1, 2, 3];
delete holey[1];
const named = Object.assign([1], { extra: true });
const cycle: Record<string, unknown> = { a: [] };
(cycle['a'] as unknown[]).push({ back: cycle });
const shared = { n: 1 };
const argumentsOf = (...args: unknown[]): unknown =>
  function inner() {
    // biome-ignore lint/complexity/noArguments: it is the value under test
    return arguments;
  }.apply(null, args as []);

const refused: readonly [string, unknown, string, string][] = [
  ['undefined', { a: undefined }, '$.a', 'undefined'],
  ['undefined in an array', [undefined], '$[0]', 'undefined'],
  ['undefined itself', undefined, '$', 'undefined'],
  ['NaN', [[Number.NaN]], '$[0][0]', 'NaN'],
  ['Infinity', { a: { 'b.c': [Number.NEGATIVE_INFINITY] } }, '$.a["b.c"][0]', '-Infinity'],
  ['a bigint', { a: 1n }, '$.a', 'a bigint'],
  ['a function', { a: () => 1 }, '$.a', 'a function'],
  ['toJSON', { toJSON: () => 1 }, '$.toJSON', 'a function'],
  ['a symbol', [Symbol('x')], '$[0]', 'a symbol'],
  ['a Date', { at: new Date(0) }, '$.at', 'an instance of Date'],
  ['a Map', new Map(), '$', 'an instance of Map'],
  ['a Set', [new Set()], '$[0]', 'an instance of Set'],
  ['a typed array', { bytes: new Uint8Array(2) }, '$.bytes', 'an instance of Uint8Array'],
  ['a Buffer', { bytes: Buffer.from('x') }, '$.bytes', 'an instance of Buffer'],
  ['a boxed number', { n: Object(1) }, '$.n', 'an instance of Number'],
  ['a regular expression', /x/, '$', 'an instance of RegExp'],
  ['an error', { e: new TypeError('x') }, '$.e', 'an instance of TypeError'],
  ['a class instance', { p: new Point() }, '$.p', 'an instance of Point'],
  ['a subclass of Array', { p: Row.of(1, 2) }, '$.p', 'an instance of Row'],
  ['an object with a prototype', Object.create({ inherited: 1 }), '$', 'a prototype of its own'],
  ['arguments', argumentsOf(1), '$.length', 'not enumerable'],
  ['a hole', { holey }, '$.holey', 'hole at 1'],
  ['an array with a name', { named }, '$.named', 'properties of its own'],
  ['a lone surrogate', { a: ['x\ud800'] }, '$.a[0]', 'lone surrogate'],
  ['a lone surrogate in a key', { a: { '\udc00': 1 } }, '$.a', 'lone surrogate in the key "\\udc00"'],
  ['a symbol key', { a: withSymbol }, '$.a', 'symbol for a key'],
  [
    'a getter',
    {
      get a() {
        return 1;
      },
    },
    '$.a',
    'getter',
  ],
  ['a setter', { set a(_: unknown) {} }, '$.a', 'getter or setter'],
  ['what is not enumerable', hidden, '$.b', 'not enumerable'],
  ['a cycle', cycle, '$.a[0].back', 'a cycle'],
  ['a second element', [{ ok: [1, { a: 1 }] }, { '': { π: Number.NaN } }], '$[1][""].π', 'NaN'],
];

describe('canonicalJson', () => {
  it.each(refused)('J5: refuses %s, naming the path', (_name, value, path, found) => {
    for (const act of [canonicalJson, assertJson as (value: unknown) => void]) {
      let error: unknown;
      try {
        act(value);
      } catch (caught) {
        error = caught;
      }
      expect(error).toBeInstanceOf(UnserializableValueError);
      expect(error).toMatchObject({
        code: 'UNSERIALIZABLE_VALUE',
        fields: { path, found: expect.stringContaining(found) },
      });
    }
  });

  it('J5: a cycle that closes deep down is named where it first closes', () => {
    let inner: Record<string, unknown> = {};
    const bottom = inner;
    for (let i = 0; i < 200; i++) inner = { a: inner };
    bottom['loop'] = bottom;
    expect(() => canonicalJson(inner)).toThrow(`at $${'.a'.repeat(200)}.loop is a cycle`);
  });

  it('J5: the same object twice is no cycle, however deep down', () => {
    let value: unknown = [shared, shared];
    for (let i = 0; i < 100; i++) value = [value, shared];
    expect(canonicalJson(value)).toBe(`${'['.repeat(100)}[{"n":1},{"n":1}]${',{"n":1}]'.repeat(100)}`);
  });

  it('L7: what JSON carries passes: odd keys, NUL, -0, the same object twice, no prototype, another realm', () => {
    const odd = JSON.parse(
      '{"__proto__":{"a":1},"$set":1,"a.b":2,"constructor":3,"toJSON":"x","":4,"\\u0000":"\\u0000"}',
    );
    expect(canonicalJson(odd)).toBe(
      '{"":4,"\\u0000":"\\u0000","$set":1,"__proto__":{"a":1},"a.b":2,"constructor":3,"toJSON":"x"}',
    );
    expect(canonicalJson([-0, shared, shared, { shared }])).toBe('[0,{"n":1},{"n":1},{"shared":{"n":1}}]');
    expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
    expect(canonicalJson(vm.runInNewContext('({ a: [1, { b: null }] })'))).toBe('{"a":[1,{"b":null}]}');
    expect(() => canonicalJson(vm.runInNewContext('[new Date(0)]'))).toThrow('at $[0] is an instance of Date');
  });

  it('L7: keys go by UTF-16 code units, numbers as ECMAScript writes them', () => {
    expect(canonicalJson({ 10: 1, 9: 2, a: 3, A: 4 })).toBe('{"10":1,"9":2,"A":4,"a":3}');
    expect(canonicalJson({ '\u{fb33}': 1, '\u{1f600}': 2, '€': 3 })).toBe('{"€":3,"😀":2,"\ufb33":1}');
    expect(canonicalJson([1e21, 1e-7, 0.1, 1.0, 5e-324, 2 ** 53])).toBe('[1e+21,1e-7,0.1,1,5e-324,9007199254740992]');
    expect(canonicalJson('\u2028€\n\u0007"\\')).toBe('"\u2028€\\n\\u0007\\"\\\\"');
  });

  it('L7: agrees with canonicalize, and parsing it gives the value back', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), (value) => {
        const json = canonicalJson(value);
        expect(json).toBe(canonicalize(value));
        expect(canonicalJson(JSON.parse(json))).toBe(json);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 500 },
    );
  });

  it('L7: the order that keys were added in makes no difference', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (value) => {
        const entries = Object.entries(value);
        expect(canonicalJson(Object.fromEntries(entries.reverse()))).toBe(canonicalJson(value));
      }),
    );
  });

  it.each([499, 500, 10_000, 200_000])('L7: nesting %d levels deep neither overflows nor slows down', (depth) => {
    let array: unknown = 'x';
    let object: unknown = 'x';
    for (let i = 0; i < depth; i++) {
      array = [array];
      object = { a: object };
    }
    expect(canonicalJson(array)).toBe(`${'['.repeat(depth)}"x"${']'.repeat(depth)}`);
    expect(canonicalJson(object)).toBe(`${'{"a":'.repeat(depth)}"x"${'}'.repeat(depth)}`);
  });

  it('J5: a fault deep down is found without overflowing', () => {
    let value: unknown = Number.NaN;
    for (let i = 0; i < 10_000; i++) value = [value];
    expect(() => canonicalJson(value)).toThrow(UnserializableValueError);
  });
});
