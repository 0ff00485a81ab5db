import { hash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { FileRow } from '../../src/ports/pins.ts';
import type { Stores } from '../../src/ports/store.ts';
import { newSession, pinned, unknownRef } from './stores.rows.ts';

const file = (bytes: Uint8Array | string): FileRow => {
  const buffer = Buffer.from(bytes);
  return { into: 'files', ref: { digest: `sha256:${hash('sha256', buffer)}`, bytes: buffer.length }, bytes: buffer };
};

const contents: Record<string, Uint8Array | string> = {
  text: `Text ${newSession()}, with é and 😀.\r\n`,
  'text with a byte order mark': `\ufeffBOM ${newSession()}`,
  'text with NUL': `a\0b${newSession()}`,
  'the empty file': '',
  'bytes that are no text': Buffer.concat([Buffer.from([0xff, 0xfe, 0x00, 0xc3]), randomBytes(64)]),
  'half a character': Buffer.from([0x61, 0xf0, 0x9f, 0x98]),
};

const soon = (): string => new Date(Date.now() + 60_000).toISOString();

/** What pins, the files that they name, published versions and the catalog of skills promise. */
export function sealedCases(stores: () => Stores): void {
  describe('pins and files', () => {
    for (const [what, bytes] of Object.entries(contents)) {
      it(`P1: keeps ${what} byte for byte`, async () => {
        const row = file(bytes);
        await stores().keep([row]);
        await stores().keep([row]);
        const [kept] = await stores().files([row.ref]);
        expect(Buffer.from(kept ?? 'none').equals(row.bytes)).toBe(true);
      });
    }

    it('P1: gives files in the order asked, and keeps thousands of them', async () => {
      const rows = Array.from({ length: 1_200 }, (_, n) => file(`${n} of ${process.pid} ${'x'.repeat(10_000)}`));
      await stores().keep(rows);
      const asked = rows.slice(0, 150).reverse();
      const kept = await stores().files([...asked, ...asked].map(({ ref }) => ref));
      expect(kept.map((bytes) => Buffer.from(bytes).toString())).toEqual(
        [...asked, ...asked].map(({ bytes }) => Buffer.from(bytes).toString()),
      );
    });

    it('may be kept by many at the same time', async () => {
      const rows = [pinned(newSession()), ...Array.from({ length: 20 }, () => file(newSession()))];
      await Promise.all(Array.from({ length: 6 }, () => stores().keep(rows)));
      const refs = rows.flatMap((row) => (row.into === 'files' ? [row.ref] : []));
      expect(await stores().files(refs)).toHaveLength(20);
    });

    it('P4: a pin or file that is missing or does not fit its digest is corrupt', async () => {
      const row = pinned(newSession());
      const text = file(newSession());
      for (const find of [() => stores().pin(row.ref.digest), () => stores().files([text.ref])]) {
        await expect(find()).rejects.toMatchObject({ code: 'PIN_CORRUPT', fields: { why: 'missing' } });
      }
      await stores().keep([
        { ...row, json: row.json.replace('s', 'S') },
        { ...text, bytes: Buffer.from(`S${Buffer.from(text.bytes).toString('utf8', 1)}`) },
      ]);
      for (const find of [() => stores().pin(row.ref.digest), () => stores().files([text.ref])]) {
        await expect(find()).rejects.toMatchObject({ code: 'PIN_CORRUPT', fields: { why: 'altered' } });
      }
      await stores().keep([row, text]);
      expect(await stores().pin(row.ref.digest)).toBe(row.json);
      expect(await stores().files([text.ref])).toHaveLength(1);
    });

    it('lists what is there, says what is not, and sweeps what is old', async () => {
      const [row, text, young] = [pinned(newSession()), file(newSession()), file(newSession())];
      const since = new Date().toISOString();
      await stores().keep([row, text]);
      const at = expect.stringMatching(/^20/);
      expect(await stores().sealed('pins')).toContainEqual({ ...row.ref, at });
      expect(await stores().sealed('files')).toContainEqual({ ...text.ref, at });
      const digests = [text.ref.digest, unknownRef.digest];
      expect(await stores().renew('files', digests)).toEqual(new Set([text.ref.digest]));
      expect(await stores().renew('pins', [])).toEqual(new Set());

      expect(await stores().sweep('files', digests, since)).toBe(0);
      expect(await stores().sweep('pins', digests, soon())).toBe(0);
      expect(await stores().sweep('files', digests, soon())).toBe(1);
      await stores().keep([young]);
      await expect(stores().files([text.ref])).rejects.toMatchObject({ code: 'PIN_CORRUPT' });
      expect(await stores().files([young.ref])).toHaveLength(1);
      expect(await stores().pin(row.ref.digest)).toBe(row.json);
    });
  });

  it('P2: a version is published once; others get the entry that is there', async () => {
    const name = newSession();
    const entry = { name, version: '1.0.0', digest: 'sha256:a', at: '2026-11-30T10:00:00.000Z' };
    expect(await stores().publish(entry)).toEqual(entry);
    const others = Array.from({ length: 4 }, (_, n) => stores().publish({ ...entry, digest: `sha256:${n}` }));
    expect(await Promise.all(others)).toEqual(Array(4).fill(entry));
    await stores().publish({ ...entry, version: '1.10.0' });
    await stores().publish({ ...entry, name: `${name}-other` });
    expect((await stores().published(name)).map(({ version }) => version)).toEqual(['1.0.0', '1.10.0']);
    expect(await stores().published()).toContainEqual({ ...entry, name: `${name}-other` });
    const raced = await Promise.all(
      [1, 2, 3, 4].map((n) => stores().publish({ ...entry, version: '2.0.0', digest: `sha256:${n}` })),
    );
    expect(new Set(raced.map(({ digest }) => digest)).size).toBe(1);
  });

  it('keeps the catalog of skills, the latest of each name', async () => {
    const name = newSession();
    const ref = { digest: 'sha256:b', bytes: 3 };
    const row = { name, description: 'One.', body: ref, files: [{ path: 'SKILL.md', ...ref }], at: 'now' };
    expect(await stores().skill(name)).toBeNull();
    await stores().putSkill(row);
    await stores().putSkill({ ...row, description: 'Two.' });
    expect(await stores().skill(name)).toEqual({ ...row, description: 'Two.' });
    expect((await stores().skills()).filter((each) => each.name === name)).toHaveLength(1);
    expect(await stores().removeSkill(name)).toBe(true);
    expect(await stores().removeSkill(name)).toBe(false);
    expect(await stores().skill(name)).toBeNull();
  });
}
