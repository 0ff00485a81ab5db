import { beforeEach, describe, expect, it } from '@jest/globals';
import { PinCorruptError, SkillNotInBundleError } from '../../../src/contract/errors.ts';
import { checkComposed, compose } from '../../../src/pins/compose.ts';
import { keepSealed } from '../../../src/pins/keep.ts';
import { readSkill } from '../../../src/pins/skills.ts';
import type { FileRow } from '../../../src/ports/pins.ts';
import type { Stores } from '../../../src/ports/store.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { agentOf, sealedOf, skillOf } from '../../support/sealing.ts';

const rules = '\uFEFF# Rules\r\nZuerst fragen, “bitte”.\n';
const logo = Buffer.from([0xff, 0, 1]);
const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`parts/${i}.md`, `Part ${i}.`]));
const skills = [
  skillOf('refund', { 'references/rules.md': rules, 'assets/logo.png': logo }),
  skillOf('greet'),
  skillOf('many', many),
];
const sealed = sealedOf(agentOf(), { skills });
const { digest } = sealed.pin.ref;
const pin = { kind: 'catalog', digest, name: 'triage', version: '1.2.0' } as const;

let stores: Stores;
beforeEach(async () => {
  stores = memoryStores();
  await keepSealed(stores, sealed);
});

const read = (tool: 'load_skill' | 'read_skill_file', args: Record<string, string>, from: Stores = stores) =>
  readSkill(from, sealed.pinned, digest, tool, args);

/** The store without one file. */
const without = ({ ref }: FileRow): Stores => ({
  ...stores,
  files: async (refs) => {
    if (refs.some((one) => one.digest === ref.digest)) throw new PinCorruptError(ref.digest, 'missing');
    return stores.files(refs);
  },
});
const rowOf = (bytes: Uint8Array | string) =>
  sealed.files.find((row) => Buffer.from(row.bytes).equals(Buffer.from(bytes))) as FileRow;

describe('the skill tools', () => {
  it('P1: give the sealed bytes as they are', async () => {
    expect(await read('load_skill', { name: 'greet' })).toEqual({ outcome: 'ok', value: 'How to do greet.\n' });
    const path = 'references/rules.md';
    expect(await read('read_skill_file', { skill: 'refund', path })).toEqual({ outcome: 'ok', value: rules });
    expect(await read('read_skill_file', { skill: 'refund', path: `./${path}` })).toEqual({
      outcome: 'ok',
      value: rules,
    });
    expect(await read('read_skill_file', { skill: 'refund', path: 'SKILL.md' })).toMatchObject({ outcome: 'ok' });
  });

  it('J5: give what is no text as base64', async () => {
    const value = { base64: logo.toString('base64') };
    expect(await read('read_skill_file', { skill: 'refund', path: 'assets/logo.png' })).toEqual({
      outcome: 'ok',
      value,
    });
  });

  it('P1: tell of a skill or a file that is not there, with what is', async () => {
    expect(await read('load_skill', { name: 'refunds' })).toEqual({
      outcome: 'error',
      value: 'there is no skill refunds; there is greet, many, refund',
    });
    expect(await read('read_skill_file', { skill: 'refund', path: '../greet/SKILL.md' })).toEqual({
      outcome: 'error',
      value:
        'there is no file ../greet/SKILL.md in the skill refund; there is SKILL.md, assets/logo.png, references/rules.md',
    });
    const { value } = await read('read_skill_file', { skill: 'many', path: 'x' });
    expect(value).toMatch(/parts\/0\.md, .* and 11 more$/);
  });

  it('P4: throw where the pin’s bytes are gone, and tell the agent nothing else', async () => {
    const text = read('load_skill', { name: 'greet' }, without(rowOf('How to do greet.\n')));
    await expect(text).rejects.toThrow(PinCorruptError);
    await expect(text).rejects.toThrow(
      /pin sha256:\w+ of triage@1\.2\.0 is without the text of the skill greet, .*missing/,
    );
    const file = read('read_skill_file', { skill: 'refund', path: 'assets/logo.png' }, without(rowOf(logo)));
    await expect(file).rejects.toMatchObject({ fields: { digest, agent: 'triage', version: '1.2.0' } });
    await expect(file).rejects.toThrow(/without the file assets\/logo\.png of the skill refund/);
  });
});

describe('composing', () => {
  it('P2: refuses a pin that lacks a skill the session was started with, naming what there is', async () => {
    const started = { pin, shape: { skills: ['greet', 'charge'] } };
    await expect(compose(stores, started)).rejects.toThrow(SkillNotInBundleError);
    await expect(checkComposed(stores, started)).rejects.toThrow(
      /skill charge.*sha256:\w+ does not.*greet, many, refund/,
    );
    await expect(compose(stores, { pin, shape: {} })).resolves.toEqual(sealed.pinned);
    await expect(checkComposed(stores, { pin, shape: { skills: ['greet'] } })).resolves.toEqual(sealed.pinned);
  });
});
