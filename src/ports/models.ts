import type { LanguageModelV4 } from '@ai-sdk/provider';

/** The models of a worker. */
export interface Models {
  /** @throws {ConfigInvalidError} naming the models there are, when none has that name. */
  model(name: string): LanguageModelV4;
  /** US dollars of a generation, or undefined where no price is known for the model. */
  cost(name: string, usage: { inputTokens: number; outputTokens: number }): number | undefined;
}
