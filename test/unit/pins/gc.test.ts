import { beforeEach, describe, expect, it } from '@jest/globals';
import { LogUnreadableError, PinCorruptError } from '../../../src/contract/errors.ts';
import { sweepPins } from '../../../src/pins/gc.ts';
import { keepSealed } from '../../../src/pins/keep.ts';
import { publish } from '../../../src/pins/publish.ts';
import { storeCatalog } from '../../../src/pins/store-catalog.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { LogWriter, ref, SESSION } from '../../support/logs.ts';
import { agentOf, sealedOf, skillOf } from '../../support/sealing.ts';
import { writeLog } from '../../support/written.ts';

const HOUR = 3_600_000;
const shared = skillOf('shared', { 'references/a.md': 'A.' });
const used = sealedOf(agentOf({ name: 'used' }), { skills: [shared, skillOf('mine')] });
const published = sealedOf(agentOf({ name: 'published' }), { skills: [shared] });
const unused = sealedOf(agentOf({ name: 'unused' }), { skills: [shared, skillOf('gone')] });

let stores: Stores;
beforeEach(async () => {
  stores = memoryStores();
  await keepSealed(stores, unused);
  await keepSealed(stores, used);
  await publish(stores, published);
  await storeCatalog(stores).put(skillOf('live'));
  const rows = JSON.stringify(new LogWriter().start().rows).replace(ref(0).digest, used.pin.ref.digest);
  await writeLog(stores, JSON.parse(rows));
});

const later = (hours: number) => ({ minAgeMs: HOUR, now: Date.now() + hours * HOUR });

describe('sweepPins', () => {
  it('takes the pins that nobody names, and the files that only they name', async () => {
    const swept = await sweepPins(stores, { dryRun: false, ...later(2) });
    expect(swept.pins.map(({ digest }) => digest)).toEqual([unused.pin.ref.digest]);
    const gone = unused.pinned.skills.find(({ name }) => name === 'gone');
    const digests = [gone?.body, ...(gone?.files ?? [])].map((file) => file?.digest);
    expect(swept.files.map(({ digest }) => digest).sort()).toEqual(digests.sort());
    expect(swept.kept).toEqual({ pins: 2, files: 7 });
    await expect(stores.pin(unused.pin.ref.digest)).rejects.toThrow(PinCorruptError);
    for (const { pin, files } of [used, published]) {
      await stores.pin(pin.ref.digest);
      expect(await stores.files(files.map((file) => file.ref))).toHaveLength(files.length);
    }
    expect(await storeCatalog(stores).get('live')).toMatchObject({ name: 'live' });
    expect(await sweepPins(stores, { dryRun: false, ...later(2) })).toMatchObject({ pins: [], files: [] });
  });

  it('says what would go, and deletes nothing', async () => {
    const would = await sweepPins(stores, { dryRun: true, ...later(2) });
    expect(would).toMatchObject({ pins: [{ digest: unused.pin.ref.digest }], kept: { pins: 2, files: 7 } });
    await stores.pin(unused.pin.ref.digest);
    expect(await sweepPins(stores, { dryRun: false, ...later(2) })).toEqual(would);
  });

  it('spares what was stored or renewed within the margin, as a session that is being started needs it', async () => {
    expect(await sweepPins(stores, { dryRun: false, ...later(0.5) })).toMatchObject({ pins: [], files: [] });
    // The files of a skill that is about to be put are there before anything names them.
    await keepSealed(stores, { ...unused, files: sealedOf(agentOf(), { skills: [skillOf('new')] }).files });
    expect(await sweepPins(stores, { dryRun: false, ...later(0.9) })).toMatchObject({ pins: [], files: [] });
  });

  it('does not delete what is renewed between the look and the deletion', async () => {
    const slow: Stores = {
      ...stores,
      sweep: async (...args) => {
        await keepSealed(stores, unused);
        return stores.sweep(...args);
      },
    };
    await new Promise((resolve) => setTimeout(resolve, 20));
    await sweepPins(slow, { dryRun: false, minAgeMs: 10 });
    await stores.pin(unused.pin.ref.digest);
    expect(await stores.files(unused.files.map((file) => file.ref))).toHaveLength(unused.files.length);
  });

  it('finds the pins of all sessions, however many there are', async () => {
    const start = JSON.stringify(new LogWriter().start().rows);
    const pins = await Promise.all(
      Array.from({ length: 230 }, async (_, n) => {
        const sealed = sealedOf(agentOf({ name: `agent-${n}` }));
        await keepSealed(stores, sealed);
        const rows = start.replace(ref(0).digest, sealed.pin.ref.digest).replaceAll(SESSION, `${SESSION}-${n}`);
        await writeLog(stores, JSON.parse(rows));
        return sealed.pin.ref.digest;
      }),
    );
    const swept = await sweepPins(stores, { dryRun: false, ...later(2) });
    expect(swept.pins.map(({ digest }) => digest)).toEqual([unused.pin.ref.digest]);
    for (const digest of pins) await stores.pin(digest);
  });

  it('L8: deletes nothing where it cannot be known what a session or a pin names', async () => {
    const read: Stores['read'] = async (session) => {
      throw new LogUnreadableError(session, 0, 'altered');
    };
    await expect(sweepPins({ ...stores, read }, { dryRun: false, ...later(2) })).rejects.toThrow(LogUnreadableError);
    await stores.keep([{ ...used.pin, json: used.pin.json.replace('used', 'abus') }]);
    await expect(sweepPins(stores, { dryRun: false, ...later(2) })).rejects.toThrow(PinCorruptError);
    expect(await stores.sealed('pins')).toHaveLength(3);
    expect(await stores.sealed('files')).toHaveLength(9);
  });
});
