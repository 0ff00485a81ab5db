import { describe, expect, it } from '@jest/globals';
import { PinCorruptError } from '../../../src/contract/errors.ts';
import { VersionConflictError } from '../../../src/contract/pin-errors.ts';
import { diffPins } from '../../../src/pins/diff.ts';
import { publish, verifyPublished, verifySealed } from '../../../src/pins/publish.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { agentOf, noBudget, sealedOf, skillOf } from '../../support/sealing.ts';

const skills = [skillOf('refund', { 'references/rules.md': 'Ask first.' })];
const sealed = sealedOf(agentOf(), { skills });
const other = sealedOf(agentOf({ instructions: 'Other.' }), { skills });

/** How much a store has of each kind. */
const countsOf = async (stores: Stores) =>
  Promise.all([stores.sealed('pins'), stores.sealed('files'), stores.published()]).then((all) =>
    all.map(({ length }) => length),
  );

describe('publish', () => {
  it('P2: the same bytes again are a no-op', async () => {
    const stores = memoryStores();
    const first = await publish(stores, sealed);
    expect(first).toMatchObject({
      name: 'triage',
      version: '1.2.0',
      digest: sealed.pin.ref.digest,
      outcome: 'published',
    });
    expect(await publish(stores, sealed)).toEqual({ ...first, outcome: 'unchanged' });
    expect(await countsOf(stores)).toEqual([1, 3, 1]);
  });

  it('P2: other bytes are a conflict, and nothing is stored', async () => {
    const stores = memoryStores();
    await publish(stores, sealed);
    await expect(publish(stores, other)).rejects.toThrow(VersionConflictError);
    await expect(publish(stores, other)).rejects.toMatchObject({
      fields: { agent: 'triage', version: '1.2.0', digest: sealed.pin.ref.digest, other: other.pin.ref.digest },
    });
    expect(await countsOf(stores)).toEqual([1, 3, 1]);
  });

  it('P2: of two that publish at once one wins, and the other conflicts', async () => {
    const stores = memoryStores();
    const outcomes = await Promise.allSettled([publish(stores, sealed), publish(stores, other)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await stores.published('triage')).toHaveLength(1);
  });
});

describe('verify', () => {
  it.each(['a file', 'the pin'])(
    'P4: finds %s missing, and puts it back from what has the same bytes',
    async (what) => {
      const stores = memoryStores();
      const { outcome: _outcome, ...entry } = await publish(stores, sealed);
      expect(await verifySealed(stores, sealed)).toEqual({ ...entry, outcome: 'unchanged' });
      if (what === 'the pin') await stores.sweep('pins', [entry.digest], '9');
      else
        await stores.sweep(
          'files',
          sealed.files.slice(0, 1).map(({ ref }) => ref.digest),
          '9',
        );
      await expect(verifyPublished(stores, entry)).rejects.toThrow(PinCorruptError);
      await expect(verifySealed(stores, other)).rejects.toThrow(VersionConflictError);
      expect(await verifySealed(stores, sealed)).toEqual({ ...entry, outcome: 'restored' });
      expect(await verifyPublished(stores, entry)).toEqual({ ...entry, outcome: 'unchanged' });
    },
  );

  it('P4: puts back what was altered, also by publishing again', async () => {
    const stores = memoryStores();
    await publish(stores, sealed);
    const [file] = sealed.files;
    if (file === undefined) throw new Error('no file');
    await stores.keep([{ ...file, bytes: Buffer.from('other') }]);
    expect(await publish(stores, sealed)).toMatchObject({ outcome: 'restored' });
    expect(await stores.files([file.ref])).toHaveLength(1);
  });

  it('does not publish', async () => {
    const stores = memoryStores();
    await expect(verifySealed(stores, sealed)).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await countsOf(stores)).toEqual([0, 0, 0]);
  });
});

describe('diffPins', () => {
  const look = { name: 'look', description: 'Looks.', class: 'read', input: { type: 'object' } } as const;

  it('says what differs, by path', () => {
    const before = sealedOf(agentOf(), { tools: [look], skills });
    const after = sealedOf(agentOf({ version: '1.3.0', budget: { ...noBudget, maxSteps: 3 } }), {
      tools: [{ ...look, description: 'Looks well.' }],
      skills: [skillOf('refund', { 'references/rules.md': 'Ask.', 'references/new.md': 'New.' }), skillOf('greet')],
    });
    expect(diffPins(before.pinned, after.pinned).map(({ path }) => path)).toEqual([
      'budget.maxSteps',
      'skills',
      'skills.greet.description',
      'skills.greet.files.SKILL.md',
      'skills.refund.files.references/new.md',
      'skills.refund.files.references/rules.md',
      'tools.look.description',
      'version',
    ]);
    const [maxSteps] = diffPins(before.pinned, after.pinned);
    expect(maxSteps).toEqual({ path: 'budget.maxSteps', before: null, after: 3 });
    expect(diffPins(before.pinned, before.pinned)).toEqual([]);
  });
});
