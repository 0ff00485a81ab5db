import type { LanguageModelV4Message, LanguageModelV4Prompt } from '@ai-sdk/provider';

/** How large a prompt is. */
export interface PromptSize {
  /** Estimated tokens. */
  readonly tokens: number;
  /** Answers of the model in it. */
  readonly answers: number;
}

interface Reached {
  readonly before: LanguageModelV4Message | undefined;
  readonly index: number;
  readonly characters: number;
  readonly answers: number;
}

const CHARACTERS_A_TOKEN = 4;

export const tokensOf = (characters: number): number => Math.ceil(characters / CHARACTERS_A_TOKEN);

/**
 * Measures prompts that grow: remembers how far it has counted, by message object, so that a prompt that extends one
 * measured before costs what is new in it. A message object must belong to one conversation only.
 */
export function measurer(): (prompt: LanguageModelV4Prompt) => PromptSize {
  const counted = new WeakMap<LanguageModelV4Message, Reached>();

  const reachedBy = (prompt: LanguageModelV4Prompt, index: number): Reached | undefined => {
    const message = prompt[index];
    const reached = message && counted.get(message);
    return reached?.index === index && reached.before === prompt[index - 1] ? reached : undefined;
  };

  return (prompt) => {
    let known = prompt.length - 1;
    while (known >= 0 && !reachedBy(prompt, known)) known--;
    let { characters, answers } = reachedBy(prompt, known) ?? { characters: 0, answers: 0 };
    for (let index = known + 1; index < prompt.length; index++) {
      const message = prompt[index] as LanguageModelV4Message;
      characters += charactersOf(message);
      if (message.role === 'assistant') answers++;
      counted.set(message, { before: prompt[index - 1], index, characters, answers });
    }
    return { tokens: tokensOf(characters), answers };
  };
}

function charactersOf(message: LanguageModelV4Message): number {
  if (message.role === 'system') return message.content.length;
  let characters = 0;
  for (const part of message.content) {
    if (part.type === 'text' || part.type === 'reasoning') characters += part.text.length;
    else if (part.type === 'tool-call') characters += part.toolName.length + JSON.stringify(part.input).length;
    else if (part.type === 'tool-result') characters += resultLength(part.output);
  }
  return characters;
}

function resultLength(output: { type: string; value?: unknown; reason?: string | undefined }): number {
  if ('value' in output)
    return typeof output.value === 'string' ? output.value.length : JSON.stringify(output.value).length;
  return output.reason?.length ?? 0;
}
