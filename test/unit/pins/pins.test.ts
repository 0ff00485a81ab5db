import { describe, expect, it } from '@jest/globals';
import { agentConfigOf, shape as shapeSchema } from '../../../src/agent/shape.ts';
import { AgentNotFoundError, PinCorruptError } from '../../../src/contract/errors.ts';
import { openPin } from '../../../src/pins/open.ts';
import { findAgent, pinAgent, type ResolvedAgent } from '../../../src/pins/resolve.ts';
import { sha256Hex } from '../../../src/session/digest.ts';

const agent: ResolvedAgent = {
  name: 'triage',
  version: '1.2.0',
  model: 'rehearsal',
  instructions: 'Triage “it”.',
  tools: ['look'],
  budget: { maxSteps: 5, maxTokens: null, maxCostUsd: null, maxToolCalls: null, deadlineMs: null },
  durability: 'checkpointed',
  output: { type: 'object' },
  dispatch: 'loop',
};
const look = { name: 'look', description: 'Looks.', class: 'read', input: { type: 'object' } } as const;

describe('findAgent', () => {
  it('finds an agent by name, and by name and version', () => {
    expect(findAgent([agent], 'triage')).toBe(agent);
    expect(findAgent([agent], 'triage@1.2.0')).toBe(agent);
  });

  it.each(['triage@1.2.1', 'nobody', 'triage@', ''])('says which there are where there is no %j', (name) => {
    expect(() => findAgent([agent], name)).toThrow(AgentNotFoundError);
    expect(() => findAgent([agent], name)).toThrow(/triage@1\.2\.0/);
  });
});

describe('pinAgent', () => {
  it('P3: pins the exact bytes, and gives them back from the digest alone', () => {
    const { pinned, pin } = pinAgent(agent, [look]);
    expect(openPin(pin.json, pin.ref.digest)).toEqual(pinned);
    expect(pinned).toMatchObject({ instructions: agent.instructions, tools: [look], output: agent.output });
    expect(pinAgent(agent, [look]).pin).toEqual(pin);
    expect(pinAgent({ ...agent, instructions: 'Other.' }, [look]).pin.ref.digest).not.toBe(pin.ref.digest);
  });

  it('L3: the shape holds no body', () => {
    const { shape } = pinAgent(agent, [look]);
    expect(shapeSchema.strict().parse(shape)).toEqual(shape);
    expect(JSON.stringify(shape)).not.toContain('Triage');
    expect(shape).toMatchObject({ tools: ['look'], agent: 'triage', version: '1.2.0' });
  });

  it('L4: gives the body that the configuration of the birth points at', () => {
    const { pinned, instructions } = pinAgent(agent, [look]);
    expect(agentConfigOf(pinned).instructions).toEqual(instructions.ref);
    expect(JSON.parse(instructions.json)).toBe(agent.instructions);
  });

  it('D1: takes another durability than the agent’s own', () => {
    expect(pinAgent(agent, []).shape.durability).toBe('checkpointed');
    expect(pinAgent(agent, [], 'replayable').shape.durability).toBe('replayable');
  });
});

describe('openPin', () => {
  const { json, ref } = pinAgent(agent, [look]).pin;

  it.each([
    ['altered', json.replace('Looks', 'Locks')],
    ['truncated', json.slice(0, -1)],
    ['empty', ''],
  ])('P4: refuses bytes that are %s', (_what, bytes) => {
    expect(() => openPin(bytes, ref.digest)).toThrow(PinCorruptError);
  });

  it.each([
    ['not JSON', 'x'],
    ['no agent', '{"v":1}'],
    ['of a later form', JSON.stringify({ ...pinAgent(agent, []).pinned, v: 2 })],
  ])('P4: refuses bytes that match and are %s', (_what, bytes) => {
    expect(() => openPin(bytes, `sha256:${sha256Hex(bytes)}`)).toThrow(PinCorruptError);
  });
});
