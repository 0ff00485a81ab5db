import { describe, expect, it } from '@jest/globals';
import type { Row, Stores } from '../../src/ports/store.ts';
import { bodyOf } from '../../src/session/digest.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import type { JsonObject } from '../../src/session/json.ts';
import { body, event, evidence, generation, newSession, pinned, started, time, unknownRef } from './stores.rows.ts';

const oddities: Record<string, unknown> = {
  '__proto__ and constructor': JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  'keys with $ and dots': { $set: { 'a.b': 1 }, '': 0, _bsontype: 'ObjectId', $where: 'x' },
  'NUL in keys and text': { 'a\u0000b': 'c\u0000d' },
  'numbers at the edges': [0, -0, 1e21, 1e-7, 5e-324, Number.MAX_SAFE_INTEGER, 1.7976931348623157e308],
  'text beyond the plane': '😀 e\u0301 \u2028 \ufeff \uffff',
  'an empty object': {},
  null: null,
  'the empty text': '',
};

/** What bodies, pins and evidence promise. */
export function bodyCases(stores: () => Stores): void {
  describe('bodies', () => {
    for (const [what, value] of Object.entries(oddities)) {
      it(`L7: keeps ${what} byte for byte`, async () => {
        const session = newSession();
        const rows = (['bodies', 'messages', 'snapshots'] as const).map((into) => body(session, value, into));
        const shaped: Envelope = {
          ...started(session),
          data: { ...started(session).data, shape: { value } },
        } as Envelope;
        expect(await stores().write([...rows, event(shaped)])).toBe(4);
        await stores().keep([pinned(value)]);
        for (const { into, ref, json } of rows) expect(await stores().load(session, into, [ref])).toEqual([json]);
        expect(await stores().pin(bodyOf(value).ref.digest)).toBe(bodyOf(value).json);
        const [read] = await stores().read(session);
        const data = read?.data as unknown as { shape: JsonObject };
        expect(bodyOf(data.shape)).toEqual(bodyOf({ value }));
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      });
    }

    it('L7: keeps a body of 8 MiB', async () => {
      const session = newSession();
      const big = body(session, 'ä'.repeat(4 * 1024 * 1024 - 1));
      expect(big.ref.bytes).toBe(8 * 1024 * 1024);
      expect(await stores().write([big, event(started(session))])).toBe(2);
      expect(await stores().load(session, 'messages', [big.ref])).toEqual([big.json]);
    });

    it('L7: writes a bulk of more than one command holds, in order', async () => {
      const session = newSession();
      const bodies = Array.from({ length: 7 }, (_, n) => body(session, `${n}${'x'.repeat(7 * 1024 * 1024)}`));
      expect(await stores().write([...bodies, event(started(session))])).toBe(8);
      expect(
        await stores().load(
          session,
          'messages',
          bodies.map(({ ref }) => ref),
        ),
      ).toEqual(bodies.map(({ json }) => json));
    });

    it('loads many in the order asked, duplicates too', async () => {
      const session = newSession();
      const rows = Array.from({ length: 150 }, (_, n) => body(session, { n }));
      await stores().write(rows);
      const asked = [...rows, ...rows.slice(0, 20)].reverse();
      expect(
        await stores().load(
          session,
          'messages',
          asked.map(({ ref }) => ref),
        ),
      ).toEqual(asked.map(({ json }) => json));
      expect(await stores().load(session, 'messages', [])).toEqual([]);
    });

    it('L4: a body that is not there is missing, by name, in its own table and session only', async () => {
      const session = newSession();
      const row = body(session, 'here');
      await stores().write([row]);
      await expect(stores().load(session, 'messages', [row.ref, unknownRef])).rejects.toMatchObject({
        code: 'BODY_MISSING',
        fields: { session, table: 'messages', digest: unknownRef.digest, why: 'missing' },
      });
      await expect(stores().load(session, 'bodies', [row.ref])).rejects.toMatchObject({ code: 'BODY_MISSING' });
      await expect(stores().load(newSession(), 'messages', [row.ref])).rejects.toMatchObject({ code: 'BODY_MISSING' });
    });

    it('L4: a body that does not fit its reference is not given', async () => {
      const session = newSession();
      const row = body(session, 'true');
      await stores().write([{ ...row, json: '"false"' }]);
      await expect(stores().load(session, 'messages', [row.ref])).rejects.toMatchObject({ fields: { why: 'altered' } });
    });

    it('L6: a body, evidence or completed row again changes nothing and stops nothing', async () => {
      const session = newSession();
      const completed = {
        into: 'completed',
        session,
        phase: 'completed',
        reason: null,
        lastSeq: 1,
        at: time(5),
      } as const;
      const rows: Row[] = [body(session, 1), body(session, 2), evidence(session, 'e'), completed];
      await stores().write(rows);
      const again = [...rows.slice(0, 3), { ...completed, lastSeq: 9 }, evidence(session, 'e', { outcome: 'error' })];
      const log1 = [body(session, 3), ...again, event(started(session)), ...again, event(generation(session, 1))];
      expect(await stores().write(log1)).toBe(log1.length);
      expect(await stores().evidence(session)).toEqual([evidence(session, 'e')]);
      const entry = (await stores().sessions({ limit: 1_000 })).find((each) => each.session === session);
      expect(entry?.completed).toEqual({ phase: 'completed', reason: null, lastSeq: 1, at: time(5) });
    });
  });

  it('E4: gives the evidence of a session, or of one key, by time', async () => {
    const session = newSession();
    const rows = [
      evidence(session, 'late', { at: time(9) }),
      evidence(session, 'early', { at: time(1), key: 'sha256:k2' }),
      evidence(session, 'b', { at: time(5) }),
    ];
    await stores().write([...rows, evidence(newSession(), 'x')]);
    expect(await stores().evidence(session)).toEqual([rows[1], rows[2], rows[0]]);
    expect(await stores().evidence(session, 'sha256:k1')).toEqual([rows[2], rows[0]]);
    expect(await stores().evidence(session, 'sha256:none')).toEqual([]);
  });
}
