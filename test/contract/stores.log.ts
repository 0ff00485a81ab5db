import { describe, expect, it } from '@jest/globals';
import type { Row, Stores } from '../../src/ports/store.ts';
import type { Envelope } from '../../src/session/envelopes.ts';
import type { JsonObject } from '../../src/session/json.ts';
import { body, claim, event, evidence, generation, log, newSession, started, time } from './stores.rows.ts';

/** What a log promises. */
export function logCases(stores: () => Stores): void {
  describe('log', () => {
    it('L2: gives back what was appended, gapless and in order', async () => {
      const session = newSession();
      const rows = log(session, 5);
      expect(await stores().write(rows)).toBe(5);
      expect(await stores().read(session)).toEqual(rows.map((row) => row.envelope));
    });

    it('reads from a seq on, at most so many, and nothing of what is not there', async () => {
      const session = newSession();
      await stores().write(log(session, 5));
      const seqs = async (from?: number, limit?: number) =>
        (await stores().read(session, from, limit)).map(({ seq }) => seq);
      expect(await seqs(3)).toEqual([3, 4]);
      expect(await seqs(1, 2)).toEqual([1, 2]);
      expect(await seqs(3, 10)).toEqual([3, 4]);
      expect(await seqs(5)).toEqual([]);
      expect(await seqs(9, 3)).toEqual([]);
      expect(await seqs(0, 0)).toEqual([]);
      expect(await stores().read(newSession())).toEqual([]);
    });

    it('L2: keeps sessions apart whose ids begin alike', async () => {
      const session = newSession();
      for (const each of [session, `${session}0`, `${session} `, `${session}#`]) await stores().write(log(each, 2));
      expect(await stores().read(session)).toHaveLength(2);
      expect((await stores().read(`${session}#`)).map((each) => each.session)).toEqual([`${session}#`, `${session}#`]);
    });

    it('L2: writes without writer and null agent come back so', async () => {
      const session = newSession();
      const bare: Envelope = {
        v: 1,
        session,
        seq: 1,
        id: 'refused/1',
        at: time(1),
        type: 'AnswerRefused',
        agent: null,
        data: { pause: 'p', why: 'unknown' },
      };
      const withUndefined = { ...bare, seq: 2, id: 'refused/2', writer: undefined };
      await stores().write([event(started(session)), event(bare), event(withUndefined)]);
      const [, first, second] = await stores().read(session);
      expect(first).toStrictEqual(bare);
      expect(second).toStrictEqual({ ...bare, seq: 2, id: 'refused/2' });
    });

    it('L6: stops at the first place that is taken and says how many rows are in place', async () => {
      const session = newSession();
      await stores().write(log(session, 3));
      const mine = body(session, 'mine');
      const late = body(session, 'late');
      const rows: Row[] = [
        mine,
        event(generation(session, 3)),
        event(generation(session, 2, { id: 'other' })),
        late,
        event(generation(session, 4)),
      ];
      expect(await stores().write(rows)).toBe(2);
      expect(await stores().read(session)).toHaveLength(4);
      expect(await stores().load(session, 'messages', [mine.ref])).toEqual([mine.json]);
      await expect(stores().load(session, 'messages', [late.ref])).rejects.toMatchObject({ code: 'BODY_MISSING' });
    });

    it('L2: one id has one place', async () => {
      const session = newSession();
      await stores().write(log(session, 3));
      const id = generation(session, 2).id;
      expect(await stores().write([event(generation(session, 3, { id }))])).toBe(0);
      expect(await stores().write([event(generation(session, 3, { id: 'started' }))])).toBe(0);
      expect(await stores().read(session)).toHaveLength(3);
    });

    it('L6: the very same rows again are in place, so a write may be repeated', async () => {
      const session = newSession();
      const rows: Row[] = [body(session, 'a'), ...log(session, 3), claim(session), evidence(session, 'e')];
      expect(await stores().write(rows)).toBe(rows.length);
      expect(await stores().write(rows)).toBe(rows.length);
      expect(await stores().write([...rows, event(generation(session, 3))])).toBe(rows.length + 1);
      expect(await stores().read(session)).toHaveLength(4);
    });

    it('L6: the same seq and id with other content is not ours', async () => {
      const session = newSession();
      await stores().write(log(session, 2));
      const { data } = generation(session, 1);
      expect(await stores().write([event(generation(session, 1, { at: time(9) }))])).toBe(0);
      expect(await stores().write([event(generation(session, 1, { writer: { resume: 0, epoch: 1 } }))])).toBe(0);
      expect(await stores().write([event(generation(session, 1, { data: { ...data, model: 'x' } as never }))])).toBe(0);
      expect((await stores().read(session))[1]).toEqual(generation(session, 1));
    });

    it('L6: of many writers at one place one wins, and nothing of it is lost or mixed', async () => {
      const session = newSession();
      await stores().write(log(session, 1));
      const appended: string[] = [];
      const appender = async (name: string, count: number): Promise<void> => {
        let seen = (await stores().read(session)).length;
        for (let n = 0; n < count; ) {
          const id = `${name}/${n}`;
          const rows = [body(session, id), event(generation(session, seen, { id }))];
          if ((await stores().write(rows)) === 2) {
            appended.push(id);
            n += 1;
          }
          seen += (await stores().read(session, seen)).length;
        }
      };
      await Promise.all(['a', 'b', 'c', 'd'].map((each) => appender(each, 8)));
      const ids = (await stores().read(session)).slice(1).map(({ id }) => id);
      expect([...ids].sort()).toEqual([...appended].sort());
      expect(new Set(ids).size).toBe(32);
      for (const each of ['a', 'b', 'c', 'd']) {
        expect(ids.filter((id) => id.startsWith(each))).toEqual(Array.from({ length: 8 }, (_, n) => `${each}/${n}`));
      }
    });

    it('L8: a gap is unreadable at the seq that is missing, wherever the reading starts or ends', async () => {
      const session = newSession();
      await stores().write([event(started(session)), event(generation(session, 1)), event(generation(session, 3))]);
      const fields = { session, seq: 2 };
      for (const range of [[], [2], [1, 5], [0, 3], [2, 1]] as [number?, number?][]) {
        await expect(stores().read(session, ...range)).rejects.toMatchObject({ code: 'LOG_UNREADABLE', fields });
      }
      expect(await stores().read(session, 0, 2)).toHaveLength(2);
      expect(await stores().read(session, 3)).toHaveLength(1);
    });

    it('J5: what JSON cannot carry is refused before anything is written', async () => {
      const session = newSession();
      const first = event(started(session));
      const data = (more: JsonObject) => ({ ...generation(session, 1).data, ...more }) as never;
      for (const bad of [
        generation(session, 1, { data: data({ model: '\ud800' }) }),
        generation(session, 1, { data: data({ more: Number.NaN }) }),
        generation(session, 1, { id: 'a\udc00b' }),
      ]) {
        await expect(stores().write([first, event(bad)])).rejects.toMatchObject({ code: 'UNSERIALIZABLE_VALUE' });
      }
      expect(await stores().read(session)).toEqual([]);
    });

    it('what was written does not change with the object it was written from', async () => {
      const session = newSession();
      const envelope = structuredClone(started(session)) as { data: { goal: string } } & Envelope;
      await stores().write([event(envelope)]);
      envelope.data.goal = 'Another.';
      const [read] = await stores().read(session);
      expect(read).toEqual(started(session));
      try {
        (read as { data: { goal: string } } & Envelope).data.goal = 'Another.';
      } catch {
        // Frozen: as good as a copy.
      }
      expect(await stores().read(session)).toEqual([started(session)]);
    });

    it('writes nothing as nothing', async () => {
      expect(await stores().write([])).toBe(0);
    });
  });
}
