import { fieldWords } from '#contract/field-words.ts';

/**
 * The name of a field for whoever reads the refusal: in their words, and as programs call it.
 * @param path dotted, such as `parameters.width`
 */
export const fieldName = (path: string): string => {
  const word = fieldWords[path.split('.').at(-1) ?? ''];
  return word === undefined ? path : `${word}（${path}）`;
};
