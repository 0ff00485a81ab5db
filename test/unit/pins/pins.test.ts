import { describe, expect, it } from '@jest/globals';
import { agentConfigOf, shape as shapeSchema, systemPromptOf } from '../../../src/agent/shape.ts';
import { PinCorruptError } from '../../../src/contract/errors.ts';
import { BundleTooLargeError, SkillNotInBundleError } from '../../../src/contract/pin-errors.ts';
import { keepSealed } from '../../../src/pins/keep.ts';
import { checkPin, filesOf, loadPin, openPin, sealedSkillOf } from '../../../src/pins/open.ts';
import { startFrom } from '../../../src/pins/resolve.ts';
import { type Sealed, sealAgent } from '../../../src/pins/seal.ts';
import { sha256Hex } from '../../../src/session/digest.ts';
import { memoryStores } from '../../../src/stores/memory/stores.ts';
import { agentOf, noBudget, sealedOf, skillOf } from '../../support/sealing.ts';

const look = { name: 'look', description: 'Looks.', class: 'read', input: { type: 'object' } } as const;
const agent = agentOf({ output: { type: 'object' }, budget: { ...noBudget, maxSteps: 5 } });
const refund = skillOf('refund', { 'references/rules.md': 'Ask first.', 'assets/logo.png': Buffer.from([0xff, 0, 1]) });
const greet = skillOf('greet');
const { model, budget, output, dispatch } = agent;
const role = { model, instructions: 'Check it.', tools: ['look'], skills: ['refund'], budget, output, dispatch };

const digestOf = ({ pin }: Sealed): string => pin.ref.digest;
const started = ({ pinned, pin }: Sealed) => startFrom(pinned, pin.ref.digest, null);

describe('sealAgent', () => {
  it('P3: pins the exact bytes, and gives them back from the digest alone', () => {
    const { pinned, pin } = sealedOf(agent, { tools: [look], skills: [refund] });
    expect(openPin(pin.json, pin.ref.digest)).toEqual(pinned);
    expect(pinned).toMatchObject({ instructions: agent.instructions, tools: [look], output: agent.output });
    expect(sealedOf(agent, { tools: [look], skills: [refund] }).pin).toEqual(pin);
  });

  it('P2: gives the same digest whatever the order of keys, files and skills', () => {
    const sealed = sealedOf(agentOf({ roles: { b: role, a: role } }), { tools: [look], skills: [refund, greet] });
    const turned = Object.fromEntries(Object.entries(agentOf({ roles: { a: role, b: role } })).reverse());
    const files = refund.files.toReversed();
    const other = sealedOf(turned as never, {
      tools: [{ input: look.input, class: look.class, description: look.description, name: look.name }],
      skills: [greet, { ...refund, files }],
    });
    expect(other.pin).toEqual(sealed.pin);
  });

  it.each([
    ['a byte of a file', { skills: [skillOf('refund', { 'references/rules.md': 'Ask First.' })] }],
    ['the path of a file', { skills: [skillOf('refund', { 'references/rule.md': 'Ask first.' })] }],
    ['a description', { skills: [{ ...refund, description: 'Other.' }] }],
    ['a tool’s schema', { tools: [{ ...look, input: { type: 'object', required: ['at'] } }] }],
    ['one skill more', { skills: [refund, greet] }],
  ])('P2: gives another digest for %s', (_what, parts) => {
    const one = sealedOf(agent, {
      tools: [look],
      skills: [skillOf('refund', { 'references/rules.md': 'Ask first.' })],
    });
    const skills = [skillOf('refund', { 'references/rules.md': 'Ask first.' })];
    expect(digestOf(sealedOf(agent, { tools: [look], skills, ...parts }))).not.toBe(digestOf(one));
  });

  it('P1: seals what the system prompt says of the skills', () => {
    const { pinned } = sealedOf(agent, { skills: [refund, { ...greet, description: 'Says\n  hello.' }] });
    expect(systemPromptOf(pinned)).toBe(`${agent.instructions}\n
# Skills

Each skill below holds instructions for one kind of work. When one fits what you are about to do, load it with the \`load_skill\` tool before you begin, and follow it; \`read_skill_file\` reads the files that it names.

- greet: Says hello.
- refund: Does refund.`);
    expect(systemPromptOf(sealedOf(agent).pinned)).toBe(agent.instructions);
  });

  it('P1: seals roles with their tools and skills, each file once', () => {
    const parts = { tools: [look], skills: [refund] };
    const sealed = sealedOf(agentOf({ roles: { checker: role } }), { skills: [refund] }, { checker: parts });
    expect(sealed.pinned.roles['checker']).toMatchObject({ instructions: 'Check it.', tools: [look] });
    expect(sealed.pinned.roles['checker']?.skills).toEqual(sealed.pinned.skills);
    expect(sealed.files).toHaveLength(4);
    expect(
      filesOf(sealed.pinned)
        .map(({ digest }) => digest)
        .sort(),
    ).toEqual(sealed.files.map(({ ref }) => ref.digest).sort());
  });

  it('refuses what is over maxBundleBytes, saying how large it is', () => {
    const large = { tools: [], skills: [skillOf('large', { 'assets/a': 'x'.repeat(5_000) })] };
    expect(() => sealAgent(agent, large, {}, 5_000)).toThrow(BundleTooLargeError);
    expect(() => sealAgent(agent, large, {}, 5_000)).toThrow(/triage@1\.2\.0 is \d+ bytes and the limit is 5000/);
    expect(() => sealAgent(agent, large, {}, 8_000)).not.toThrow();
  });
});

describe('startFrom', () => {
  it('L3: the shape holds no body', () => {
    const { shape } = started(sealedOf(agent, { tools: [look], skills: [refund] }));
    expect(shapeSchema.strict().parse(shape)).toEqual(shape);
    expect(JSON.stringify(shape)).not.toContain('Triage');
    expect(shape).toMatchObject({ tools: ['look'], skills: ['refund'], agent: 'triage', version: '1.2.0' });
  });

  it('L4: gives the body that the configuration of the birth points at', () => {
    const { pinned, instructions } = started(sealedOf(agent));
    expect(agentConfigOf(pinned).instructions).toEqual(instructions.ref);
    expect(JSON.parse(instructions.json)).toBe(agent.instructions);
  });

  it('D1: takes another durability than the agent’s own, and leaves the pin as it is', () => {
    const { pinned, pin } = sealedOf(agent);
    expect(startFrom(pinned, pin.ref.digest, null).shape.durability).toBe('checkpointed');
    const other = startFrom(pinned, pin.ref.digest, null, 'replayable');
    expect(other).toMatchObject({ digest: pin.ref.digest, shape: { durability: 'replayable' } });
  });
});

describe('openPin', () => {
  const { json, ref } = sealedOf(agent, { tools: [look] }).pin;

  it.each([
    ['altered', json.replace('Looks', 'Locks')],
    ['truncated', json.slice(0, -1)],
    ['empty', ''],
  ])('P4: refuses bytes that are %s', (_what, bytes) => {
    expect(() => openPin(bytes, ref.digest)).toThrow(PinCorruptError);
  });

  it.each([
    ['not JSON', 'x'],
    ['no agent', '{"v":2}'],
    ['of a later form', JSON.stringify({ ...sealedOf(agent).pinned, v: 3 })],
    ['of a kind of coordination that this release lacks', json.replace('"kind":"solo"', '"kind":"choir"')],
  ])('P4: refuses bytes that match and are %s', (_what, bytes) => {
    expect(() => openPin(bytes, `sha256:${sha256Hex(bytes)}`)).toThrow(PinCorruptError);
  });

  it('L8: opens a pin from before there were skills', () => {
    const { skills, skillList, durability, coordination, roles, ...before } = sealedOf(agent, { tools: [look] }).pinned;
    const bytes = JSON.stringify({ ...before, v: 1 });
    expect(openPin(bytes, `sha256:${sha256Hex(bytes)}`)).toEqual(sealedOf(agent, { tools: [look] }).pinned);
    expect([skills, skillList, durability, coordination, roles]).toHaveLength(5);
  });
});

describe('checkPin', () => {
  const sealed = sealedOf(agent, { skills: [refund] });
  const pin = { kind: 'bundle', digest: sealed.pin.ref.digest, name: 'triage', version: '1.2.0' } as const;

  it('P4: finds all that was stored', async () => {
    const stores = memoryStores();
    await keepSealed(stores, sealed);
    expect(await checkPin(stores, pin)).toEqual(sealed.pinned);
  });

  it('P4: names agent and version of a pin that is missing', async () => {
    await expect(loadPin(memoryStores(), pin)).rejects.toMatchObject({
      code: 'PIN_CORRUPT',
      message: expect.stringContaining('of triage@1.2.0 is missing'),
      fields: { agent: 'triage', version: '1.2.0', digest: pin.digest, why: 'missing' },
    });
  });

  it.each(['missing', 'altered'])('P4: names the file that is %s', async (what) => {
    const stores = memoryStores();
    await keepSealed(stores, sealed);
    const file = sealed.files.find(({ bytes }) => Buffer.from(bytes).includes('Ask first.'));
    if (file === undefined) throw new Error('no such file');
    if (what === 'missing') await stores.sweep('files', [file.ref.digest], '9');
    else await stores.keep([{ ...file, bytes: Buffer.from('Ask never.') }]);
    await expect(checkPin(stores, pin)).rejects.toMatchObject({
      code: 'PIN_CORRUPT',
      message: expect.stringMatching(`without the file references/rules.md of the skill refund, which is ${what}`),
      fields: { agent: 'triage', digest: pin.digest },
    });
  });

  it('P2: a skill that is not in the bundle is an error, naming those that are', () => {
    expect(sealedSkillOf(sealed.pinned, pin.digest, 'refund').name).toBe('refund');
    expect(() => sealedSkillOf(sealed.pinned, pin.digest, 'other')).toThrow(SkillNotInBundleError);
    expect(() => sealedSkillOf(sealed.pinned, pin.digest, 'other')).toThrow(/triage@1\.2\.0 .* there is refund/);
  });
});
