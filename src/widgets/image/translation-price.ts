import { useWriter } from '#src/platform/queries.ts';
import type { ImageRequest } from '#contract/chat.ts';
import { needsTranslation, readImageWords, saysWhat } from '#contract/image-prompt.ts';
import type { ImageTask } from '#contract/image.ts';
import type { Model } from '#contract/model.ts';
import { translationDeduction } from '#contract/price.ts';

/** Whether anybody translates the words for this person: else there is nothing to switch on. */
export const useTranslates = (): boolean => useWriter() !== undefined;

/** Tells what the translation of a request's words will take, about; 0: nothing, or there is none. */
export const useTranslationCost = (): ((
  asked: { type: ImageTask; prompt: string; image: ImageRequest },
  model: Model,
) => number) => {
  const writer = useWriter();
  return ({ type, prompt, image }, model) => {
    if (!writer || image.translate !== 1 || !saysWhat(type, image.parameters)) return 0;
    const words = readImageWords(prompt, model.image?.family ?? 'built-in').prompt;
    if (words === '' || !needsTranslation(words)) return 0;
    return translationDeduction(
      { factor: writer.factor, promptFactor: writer.prompt_factor },
      words,
    );
  };
};
