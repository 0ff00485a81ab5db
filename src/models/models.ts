import type { LanguageModelV4, ProviderV4 } from '@ai-sdk/provider';
import { ConfigInvalidError } from '../contract/errors.ts';
import type { Models } from '../ports/models.ts';

/** What a provider offers here; the AI SDK's providers and registries do. */
export type ModelProvider = Pick<ProviderV4, 'languageModel'>;

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/** What a config says of models. */
export interface ModelsConfig {
  /** By exact name a model, by pattern (`openai/*`) a provider that makes one of what stands for the `*`. */
  readonly models?: Readonly<Record<string, LanguageModelV4 | ModelProvider>>;
  /** By exact name or pattern; the exact name goes first, then the longest pattern. */
  readonly prices?: Readonly<Record<string, Price>>;
}

/**
 * The models of a worker.
 *
 * @throws {ConfigInvalidError} naming the entry that is no model or provider of AI SDK 7, or no price.
 */
export function createModels({ models = {}, prices = {} }: ModelsConfig): Models {
  const entries = new Map(Object.entries(models));
  for (const [name, entry] of entries) checkEntry(name, entry);
  const priceList = new Map(Object.entries(prices));
  for (const [name, price] of priceList) checkPrice(name, price);
  const made = new Map<string, LanguageModelV4>();
  return {
    model(name) {
      const known = made.get(name);
      if (known) return known;
      const model = makeModel(name, entries);
      made.set(name, model);
      return model;
    },
    cost(name, { inputTokens, outputTokens }) {
      const price = lookUp(name, priceList)?.entry;
      return price && (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
    },
  };
}

function makeModel(name: string, entries: ReadonlyMap<string, LanguageModelV4 | ModelProvider>): LanguageModelV4 {
  const found = lookUp(name, entries);
  if (!found) {
    const available = [...entries.keys()].join(', ') || 'none';
    throw new ConfigInvalidError('models', `there is no model ${name}; there is ${available}.`);
  }
  if (isModel(found.entry)) return found.entry;
  try {
    const model = found.entry.languageModel(found.rest);
    checkVersion(name, model);
    return model;
  } catch (error) {
    if (error instanceof ConfigInvalidError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigInvalidError(`models.${found.key}`, `gives no model for ${name}: ${why}`);
  }
}

/** The entry of exactly this name, or else of the longest pattern that matches, with what its `*` stands for. */
function lookUp<T>(name: string, entries: ReadonlyMap<string, T>): { key: string; entry: T; rest: string } | null {
  let found: { key: string; entry: T; rest: string } | null = null;
  if (isPattern(name)) return null;
  for (const [key, entry] of entries) {
    if (key === name) return { key, entry, rest: '' };
    const start = key.slice(0, -1);
    if (!isPattern(key) || !name.startsWith(start) || name === start || (found && found.key.length >= key.length))
      continue;
    found = { key, entry, rest: name.slice(start.length) };
  }
  return found;
}

const isPattern = (name: string) => name.endsWith('/*');

const isModel = (entry: LanguageModelV4 | ModelProvider): entry is LanguageModelV4 => 'doGenerate' in entry;

function checkEntry(name: string, entry: unknown): void {
  const field = `models.${name}`;
  const isThing = (typeof entry === 'object' && entry !== null) || typeof entry === 'function';
  if (!isThing) {
    throw new ConfigInvalidError(
      field,
      `is ${JSON.stringify(entry)}, no model or provider of the AI SDK; give openai('gpt-5').`,
    );
  }
  if (isPattern(name)) {
    if ('languageModel' in entry && typeof entry.languageModel === 'function') return;
    throw new ConfigInvalidError(field, 'is no provider; give one with languageModel(id), or name a single model.');
  }
  if ('doGenerate' in entry) {
    checkVersion(name, entry as { specificationVersion?: unknown });
    return;
  }
  const advice = 'languageModel' in entry ? `for a provider the name is a pattern: ${name}/*` : "give openai('gpt-5')";
  throw new ConfigInvalidError(field, `is no model of the AI SDK; ${advice}.`);
}

function checkVersion(name: string, model: { specificationVersion?: unknown }): void {
  if (model.specificationVersion === 'v4') return;
  throw new ConfigInvalidError(
    `models.${name}`,
    `is a model of the AI SDK's specification ${String(model.specificationVersion ?? '(none)')}, and v4 is needed; ` +
      'install ai@7 and the release of the provider that goes with it (such as @ai-sdk/openai@4).',
  );
}

function checkPrice(name: string, price: Price): void {
  if ([price?.input, price?.output].every((dollars) => Number.isFinite(dollars) && dollars >= 0)) return;
  throw new ConfigInvalidError(`prices.${name}`, 'needs input and output, in US dollars per million tokens.');
}
