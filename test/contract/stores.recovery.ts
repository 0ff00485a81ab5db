import { describe, expect, it } from '@jest/globals';
import type { RecoverableEntry, Stores } from '../../src/ports/store.ts';
import { ended, event, generation, log, newSession, started, time } from './stores.rows.ts';

/** What the boot scan is promised. */
export function recoveryCases(stores: () => Stores): void {
  const complete = (session: string) =>
    stores().write([{ into: 'completed', session, phase: 'completed', reason: null, lastSeq: 0, at: time(1) }]);

  /** All that is unfinished of the sessions whose ids begin so, in pages. */
  async function unfinished(prefix: string, limit: number): Promise<string[]> {
    const found: string[] = [];
    for (let after = prefix; ; after = found.at(-1) as string) {
      const page = await stores().unfinished({ limit, after });
      found.push(...page.filter((session) => session.startsWith(prefix)));
      if (page.length < limit || page.some((session) => !session.startsWith(prefix))) return found;
    }
  }

  describe('recovery', () => {
    it('R2: lists a session by its latest word, until it is taken off the list', async () => {
      const prefix = newSession();
      const entry = (n: number, more: Partial<RecoverableEntry> = {}): RecoverableEntry => ({
        session: `${prefix}-${n}`,
        class: 'side-effects',
        why: 'It has made 2 effects.',
        at: time(n),
        ...more,
      });
      for (const n of [2, 0, 1]) await stores().list(entry(n));
      const closed = entry(1, { class: 'closed', why: 'It was terminated.', at: time(9) });
      await stores().list(closed);
      expect(await stores().listed(`${prefix}-1`)).toEqual(closed);
      expect(await stores().listed(prefix)).toBeNull();
      const own = (entries: RecoverableEntry[]) => entries.filter(({ session }) => session.startsWith(prefix));
      expect(own(await stores().allListed())).toEqual([entry(0), closed, entry(2)]);
      expect(await stores().allListed({ after: prefix, limit: 2 })).toEqual([entry(0), closed]);
      expect(own(await stores().allListed({ after: `${prefix}-1` }))).toEqual([entry(2)]);
      expect(await stores().allListed({ limit: 0 })).toEqual([]);
      await stores().unlist(`${prefix}-1`);
      await stores().unlist(`${prefix}-1`);
      expect(await stores().listed(`${prefix}-1`)).toBeNull();
      expect(own(await stores().allListed())).toEqual([entry(0), entry(2)]);
    });

    it('R2: of many words on a session at once one counts, whole', async () => {
      const session = newSession();
      const words = Array.from({ length: 12 }, (_, n) => ({ session, class: `c${n}`, why: `w${n}`, at: time(n) }));
      await Promise.all(words.map((word) => stores().list(word)));
      expect(words).toContainEqual(await stores().listed(session));
    });

    it('F6, R2: the sessions with no completed record are walked by id, in pages of any size', async () => {
      const prefix = newSession();
      const names = Array.from({ length: 12 }, (_, n) => `${prefix}-${String(n).padStart(2, '0')}`);
      for (const session of [...names].reverse()) await stores().write(log(session, 2));
      for (const n of [0, 1, 5, 11]) await complete(names[n] as string);
      const open = names.filter((_, n) => ![0, 1, 5, 11].includes(n));
      for (const limit of [1, 3, 8, 100]) expect(await unfinished(prefix, limit)).toEqual(open);
      expect(await stores().unfinished({ limit: 3, after: prefix })).toEqual(open.slice(0, 3));
      expect(await stores().unfinished({ limit: 0 })).toEqual([]);
    });

    it('F6: what a lost record said is derived from the log, and nothing of a log that is not over or cannot be read', async () => {
      const prefix = newSession();
      const [over, lost, open, gone, wrong] = [0, 1, 2, 3, 4].map((n) => `${prefix}-${n}`) as [
        string,
        string,
        string,
        string,
        string,
      ];
      for (const session of [over, lost, wrong]) await stores().write(ended(session));
      await stores().write(log(open, 3));
      await stores().write([event(started(gone)), event(generation(gone, 2))]);
      const record = { phase: 'failed', reason: 'diverged', lastSeq: 3, at: time(3) } as const;
      await stores().write([{ into: 'completed', session: over, ...record }]);
      await stores().write([{ into: 'completed', session: wrong, ...record, phase: 'completed', lastSeq: 9 }]);
      expect(await unfinished(prefix, 10)).toEqual([lost, open, gone]);
      const rebuilt = await stores().rebuildIndexes();
      expect(rebuilt.completed).toBeGreaterThanOrEqual(3);
      expect(rebuilt.unreadable).toBeGreaterThanOrEqual(1);
      expect(await unfinished(prefix, 10)).toEqual([open, gone]);
      const listed = (await stores().sessions({ limit: 100_000 })).filter(({ session }) => session.startsWith(prefix));
      const entry = (session: string, completed: typeof record | null) => ({ session, startedAt: time(0), completed });
      expect(listed.reverse()).toEqual([
        entry(over, record),
        entry(lost, record),
        entry(open, null),
        entry(gone, null),
        entry(wrong, record),
      ]);
    });

    it('F6: a session is walked once, though starts of it lost', async () => {
      const prefix = newSession();
      const session = `${prefix}-0`;
      const at = (year: number): string => new Date(Date.UTC(year, 0, 1)).toISOString();
      await stores().write([event(started(session, at(2030)))]);
      for (const year of [2029, 2031]) expect(await stores().write([event(started(session, at(year)))])).toBe(0);
      expect(await unfinished(prefix, 10)).toEqual([session]);
      await complete(session);
      expect(await unfinished(prefix, 10)).toEqual([]);
    });
  });
}
