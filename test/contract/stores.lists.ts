import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../../src/ports/store.ts';
import { claim, event, newSession, started, time } from './stores.rows.ts';

/** What the lists of sessions, workers and claims promise. */
export function listCases(stores: () => Stores): void {
  describe('sessions', () => {
    it('lists sessions, the newest first, page by page, with their completed record', async () => {
      const names = Array.from({ length: 70 }, newSession);
      const at = (n: number): string => new Date(Date.UTC(2040, 0, 1, 0, 0, Math.floor(n / 3))).toISOString();
      for (const [n, session] of names.entries()) await stores().write([event(started(session, at(n)))]);
      const record = { phase: 'failed', reason: 'diverged', lastSeq: 7, at: time(7) } as const;
      await stores().write([{ into: 'completed', session: names[69] as string, ...record }]);
      const expected = names.map((session, n) => ({ session, startedAt: at(n), completed: n === 69 ? record : null }));
      const listed = await stores().sessions({ limit: 70 });
      expect([...listed].sort((a, b) => names.indexOf(a.session) - names.indexOf(b.session))).toEqual(expected);
      expect(listed.map(({ startedAt }) => startedAt)).toEqual(expected.map(({ startedAt }) => startedAt).reverse());

      const paged = await stores().sessions({ limit: 10 });
      for (let last = paged.at(-1); paged.length < 70 && last !== undefined; last = paged.at(-1)) {
        paged.push(...(await stores().sessions({ limit: 10, before: last })));
      }
      expect(paged.slice(0, 70)).toEqual(listed);
      expect(await stores().sessions({ limit: 3, before: at(3) })).toHaveLength(3);
      expect((await stores().sessions({ limit: 3, before: at(3) })).map(({ startedAt }) => startedAt)).toEqual([
        at(0),
        at(0),
        at(0),
      ]);
      expect(await stores().sessions({ limit: 0 })).toEqual([]);
    });

    it('does not list a second start that lost', async () => {
      const session = newSession();
      const at = (year: number): string => new Date(Date.UTC(year, 0, 1)).toISOString();
      expect(await stores().write([event(started(session, at(2050)))])).toBe(1);
      expect(await stores().write([event(started(session, at(2051)))])).toBe(0);
      const entries = (await stores().sessions()).filter((each) => each.session === session);
      expect(entries).toEqual([{ session, startedAt: at(2050), completed: null }]);
    });
  });

  describe('registry', () => {
    it('W3: a beat registers a worker, a strike stays until the next beat', async () => {
      const worker = `w-${newSession()}`;
      const entry = async () => (await stores().workers()).find((each) => each.worker === worker);
      await stores().strike(worker);
      expect(await entry()).toBeUndefined();
      const before = new Date().toISOString();
      await stores().beat(worker, 'q');
      const first = await entry();
      expect(first).toEqual({ worker, taskQueue: 'q', beatAt: expect.any(String), struck: false });
      expect(first?.beatAt.localeCompare(before)).toBeGreaterThanOrEqual(0);
      await stores().strike(worker);
      expect(await entry()).toEqual({ ...first, struck: true });
      await stores().beat(worker, 'q2');
      expect(await entry()).toMatchObject({ taskQueue: 'q2', struck: false });
    });

    it('W4: a slice is claimed once; the same try may claim again', async () => {
      const session = newSession();
      expect(await stores().write([claim(session)])).toBe(1);
      expect(await stores().write([claim(session)])).toBe(1);
      expect(await stores().write([claim(session, { claimant: 'try-2' }), event(started(session))])).toBe(0);
      expect(await stores().read(session)).toEqual([]);
      expect(await stores().write([claim(session, { claimant: 'try-2', slice: 1 }), event(started(session))])).toBe(2);
      const [first] = await stores().claims(session, `${session}/root-1`);
      expect(first).toEqual(claim(session));
    });

    it('W4: of many claims at once one is in place', async () => {
      const session = newSession();
      const claims = Array.from({ length: 12 }, (_, n) => [claim(session, { claimant: `try-${n}` })]);
      const results = await Promise.all(claims.map((rows) => stores().write(rows)));
      expect(results.filter((count) => count === 1)).toHaveLength(1);
      expect(await stores().claims(session, `${session}/root-1`)).toEqual(claims[results.indexOf(1)]);
    });

    it('gives an agent its claims in order of resume, epoch and slice, and no other agent', async () => {
      const session = newSession();
      const places = [
        [0, 0, 2],
        [0, 0, 10],
        [0, 2, 0],
        [0, 10, 0],
        [1, 0, 0],
      ] as const;
      const rows = places.map(([resume, epoch, slice]) => claim(session, { resume, epoch, slice }));
      const others = [
        claim(session, { agent: `${session}/root-1#x-1` }),
        claim(session, { agent: `${session}/root-11` }),
      ];
      await stores().write([...others, ...[...rows].reverse()]);
      expect(await stores().claims(session, `${session}/root-1`)).toEqual(rows);
    });
  });
}
