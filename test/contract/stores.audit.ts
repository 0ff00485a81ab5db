import { describe, expect, it } from '@jest/globals';
import type { Stores } from '../../src/ports/store.ts';
import { bodyOf } from '../../src/session/digest.ts';
import {
  body,
  claim,
  ended,
  event,
  evidence,
  generation,
  log,
  newSession,
  started,
  time,
  unknownRef,
} from './stores.rows.ts';

/** What looking at all rows of a session promises. */
export function auditCases(stores: () => Stores): void {
  describe('audit', () => {
    it('gives all that is there of a session, and nothing of another', async () => {
      const session = newSession();
      const rows = ended(session);
      const record = {
        into: 'completed',
        session,
        phase: 'failed',
        reason: 'diverged',
        lastSeq: 3,
        at: time(3),
      } as const;
      const claims = [claim(session), claim(session, { epoch: 1 })];
      await stores().write([...claims, ...rows, evidence(session, 'e'), record]);
      await stores().list({ session, class: 'closed', why: 'It was terminated.', at: time(4) });
      for (const other of [`${session}0`, `${session}-1`]) await stores().write([claim(other), ...log(other, 2)]);
      const envelopes = rows.map(({ envelope }) => envelope);
      expect(await stores().audit(session)).toEqual({ envelopes, lastSeq: 3, claims, completed: record, faults: [] });
      expect(await stores().audit(newSession())).toEqual({
        envelopes: [],
        lastSeq: -1,
        claims: [],
        completed: null,
        faults: [],
      });
    });

    it('L8: names each gap, and goes on after it', async () => {
      const session = newSession();
      await stores().write([event(started(session)), ...[2, 3, 7].map((seq) => event(generation(session, seq)))]);
      const { envelopes, lastSeq, faults } = await stores().audit(session);
      expect(envelopes.map(({ seq }) => seq)).toEqual([0, 2, 3, 7]);
      expect(lastSeq).toBe(7);
      expect(faults).toEqual([
        { in: 'events', seq: 1, why: expect.stringContaining('the row is missing') },
        { in: 'events', seq: 4, why: expect.stringContaining('the rows up to seq 6 are missing') },
      ]);
    });

    it('L4: says of each body what is wrong with it', async () => {
      const session = newSession();
      const many = Array.from({ length: 150 }, (_, n) => body(session, n));
      await stores().write(many);
      const refs = many.map(({ ref }) => ref);
      const other = { ...bodyOf(7).ref, bytes: 4 };
      expect(await stores().bodyFaults(session, 'messages', [unknownRef, ...refs, other])).toEqual([
        'missing',
        ...refs.map(() => null),
        'altered',
      ]);
      expect(await stores().bodyFaults(session, 'bodies', refs.slice(0, 1))).toEqual(['missing']);
      expect(await stores().bodyFaults(session, 'messages', [])).toEqual([]);
    });
  });
}
