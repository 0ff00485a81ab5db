import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { canonicalJson } from '../../../src/session/canonical-json.ts';
import type { JsonObject } from '../../../src/session/json.ts';
import { effectKey } from '../../../src/session/keys.ts';

interface Vector {
  agent: string;
  tool: string;
  args: JsonObject;
  n: number;
  jcs: string;
  key: string;
}
const vectors: { effectKeys: Vector[] } = JSON.parse(
  readFileSync(new URL('../../vectors/determinism.json', import.meta.url), 'utf8'),
);

describe('effectKey', () => {
  it.each(vectors.effectKeys)('E2: $tool #$n of the vectors', ({ agent, tool, args, n, jcs, key }) => {
    expect(canonicalJson({ agent, tool, args, n })).toBe(jcs);
    expect(effectKey({ agent, tool, args, n })).toBe(key);
  });

  it('E2: only agent, tool, arguments and count make the key', () => {
    const call = { agent: 's/a-1', tool: 't', args: { x: 1, y: 2 }, n: 0 };
    const same = effectKey(call);
    expect(effectKey({ ...call, args: { y: 2, x: 1 }, other: 1 } as typeof call)).toBe(same);
    for (const other of [{ agent: 's/a-2' }, { tool: 'u' }, { args: { x: 1, y: 3 } }, { n: 1 }]) {
      expect(effectKey({ ...call, ...other } as typeof call)).not.toBe(same);
    }
  });

  it('E2: a count is a whole number from 0', () => {
    const call = { agent: 's/a-1', tool: 't', args: {} };
    for (const n of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => effectKey({ ...call, n })).toThrow(RangeError);
  });
});
