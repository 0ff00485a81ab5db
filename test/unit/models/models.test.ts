import { createOpenAI } from '@ai-sdk/openai';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from '@jest/globals';
import { createProviderRegistry } from 'ai';
import { ConfigInvalidError } from '../../../src/contract/errors.ts';
import { createModels } from '../../../src/models/models.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';

const openai = createOpenAI({ apiKey: 'none' });
const rehearsal = scriptedModel(() => ({ text: 'hi' }), { modelId: 'rehearsal' });

const failure = (run: () => unknown): ConfigInvalidError => {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigInvalidError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('the models of a config', () => {
  it('P1: an exact name goes before a pattern, a longer pattern before a shorter one', () => {
    const special = scriptedModel(() => ({}), { modelId: 'special' });
    const fine: LanguageModelV4[] = [];
    const provider = {
      languageModel: (id: string) => fine[fine.push({ ...rehearsal, modelId: `fine:${id}` }) - 1] as LanguageModelV4,
    };
    const models = createModels({
      models: { 'openai/*': openai, 'openai/ft/*': provider, 'openai/gpt-5': special, rehearsal },
    });
    expect(models.model('openai/gpt-5')).toBe(special);
    expect(models.model('openai/gpt-4o')).toMatchObject({ modelId: 'gpt-4o', specificationVersion: 'v4' });
    expect(models.model('openai/ft/a/b').modelId).toBe('fine:a/b');
    expect(models.model('rehearsal')).toBe(rehearsal);
    expect(models.model('openai/ft/a/b')).toBe(models.model('openai/ft/a/b'));
    expect(fine).toHaveLength(1);
  });

  it('P1: an AI SDK registry is a provider too', () => {
    const registry = createProviderRegistry({ openai }, { separator: '/' });
    const models = createModels({ models: { 'any/*': registry } });
    expect(models.model('any/openai/gpt-4o').modelId).toBe('gpt-4o');
    expect(failure(() => models.model('any/nobody/x')).message).toMatch(/models\.any\/\*.*nobody/);
  });

  it.each(['gpt-5', 'openai', 'openai/', 'openai/*', ''])(
    'P1: %j is no model, and the error names those there are',
    (name) => {
      const models = createModels({ models: { 'openai/*': openai, rehearsal } });
      const { message, code } = failure(() => models.model(name));
      expect(code).toBe('CONFIG_INVALID');
      expect(message).toContain('openai/*, rehearsal');
    },
  );

  it.each([
    ['a string', { x: 'openai/gpt-5' }, /models\.x: is "openai\/gpt-5"/],
    ['a provider under a plain name', { openai }, /models\.openai:.*openai\/\*/],
    ['a model under a pattern', { 'r/*': rehearsal }, /models\.r\/\*: is no provider/],
    ['an older model', { old: { ...rehearsal, specificationVersion: 'v3' } }, /models\.old:.* v3, .*ai@7/],
    ['null', { x: null }, /models\.x/],
  ])('P1: %s is refused, naming the field', (_, models, message) => {
    expect(failure(() => createModels({ models: models as never })).message).toMatch(message);
  });

  it('P1: a provider that makes older models is refused when asked', () => {
    const old = { languageModel: () => ({ ...rehearsal, specificationVersion: 'v2' }) as never };
    const models = createModels({ models: { 'old/*': old } });
    expect(failure(() => models.model('old/x')).message).toMatch(/models\.old\/x:.* v2, .*ai@7/);
  });

  it('F2: cost follows the price of the name, or of the pattern', () => {
    const prices = { 'openai/*': { input: 1, output: 2 }, 'openai/gpt-5': { input: 10, output: 40 } };
    const { cost } = createModels({ prices });
    expect(cost('openai/gpt-5', { inputTokens: 1000, outputTokens: 500 })).toBeCloseTo(0.03, 12);
    expect(cost('openai/other', { inputTokens: 1_000_000, outputTokens: 1_000_000 })).toBe(3);
    expect(cost('rehearsal', { inputTokens: 1000, outputTokens: 500 })).toBeUndefined();
    expect(failure(() => createModels({ prices: { x: { input: -1, output: 0 } } })).message).toContain('prices.x');
    expect(failure(() => createModels({ prices: { x: { input: 1 } as never } })).message).toContain('prices.x');
  });
});
