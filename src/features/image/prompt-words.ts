import { readImageWords, replaceWords } from '#contract/image-prompt.ts';
import type { ImageFamily } from '#contract/image.ts';

const isFlag = (word: string): boolean => word.startsWith('--');
const flagName = (word: string): string => /^--\w+/.exec(word)?.[0] ?? word;

/** The parts of a prompt between its commas, as they stand. */
const partsOf = (prompt: string): string[] =>
  prompt
    .split(/[,，、\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');

const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** The text with spaces at its ends and one between its pieces. */
const within = (text: string): string => ` ${text.split(/\s+/).join(' ')} `;

/** What of a text can be on: looked up once for a whole list of words. */
export const wordsIn = (text: string, family: ImageFamily): ((word: string) => boolean) => {
  const parts = new Set(
    partsOf(readImageWords(text, family).prompt).map((part) => part.toLowerCase()),
  );
  const flags = within(text);
  return (word) => (isFlag(word) ? flags.includes(` ${word} `) : parts.has(word.toLowerCase()));
};

const withoutFlag = (text: string, name: string): string => {
  const pieces = text.split(/(\s+)/);
  const left: string[] = [];
  for (let at = 0; at < pieces.length; at += 1) {
    if (pieces[at] !== name) {
      left.push(pieces[at] ?? '');
      continue;
    }
    // With the space before it, and with its value where it has one.
    left.pop();
    const value = pieces[at + 2];
    if (value !== undefined && value !== '' && !isFlag(value)) at += 2;
  }
  return left.join('').trim();
};

/** Puts a word behind the prompt's, or takes it out where it stands already. Of a flag there is one. */
export const toggleWord = (text: string, family: ImageFamily, word: string): string => {
  const there = wordsIn(text, family)(word);
  if (isFlag(word)) {
    const rest = withoutFlag(text, flagName(word));
    return there ? rest : `${rest} ${word}`.trim();
  }
  const { prompt } = readImageWords(text, family);
  if (there) {
    const left = prompt.split(/([,，、\n])/).reduce<string[]>((kept, part, at, all) => {
      if (at % 2 === 1 || same(part.trim(), word)) return kept;
      // Each part with the comma in front of it, but for the first that stays.
      kept.push(kept.length === 0 ? part.trim() : `${all[at - 1] ?? ''}${part}`);
      return kept;
    }, []);
    return replaceWords(text, family, left.join('').trim());
  }
  const comma = /[\u2e80-\uffff]/.test(word) ? '，' : ', ';
  const before = prompt.replace(/[\s,，、]+$/, '');
  return replaceWords(text, family, before === '' ? word : `${before}${comma}${word}`);
};
