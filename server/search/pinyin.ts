import { charactersBySound, isEnglishWord } from './glosses.ts';

/** Names that a question writes in pinyin, as the passages that are searched write them. */

/** Whether a character or a pair of them stands anywhere in what is searched. */
export type Stands = (term: string) => boolean;

/** Syllables of a name. */
const length = { least: 2, most: 4 };
/** Letters of a syllable at most. */
const longest = 6;
/** What can be pinyin at all, before the dictionary is read for it. */
const mayBeSyllables =
  /^(?:[bpmfwy]?o|(?:zh|ch|sh|[bpmfdtnlgkhjqxrzcsyw])?(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|an|en|in|un|ao|ai|ei|ou|ia|ie|iu|ua|ui|uo|ue|er|a|e|i|u|v))+$/;
/** Words that one name may stand for. */
const mostWords = 40;

/** A word of Latin letters in syllables, the longer first; null: it is no pinyin. */
const syllablesOf = (word: string): string[] | null => {
  if (word === '') return [];
  for (let end = Math.min(longest, word.length); end > 0; end -= 1) {
    const first = word.slice(0, end);
    if (charactersBySound(first) === null) continue;
    const rest = syllablesOf(word.slice(end));
    if (rest) return [first, ...rest];
  }
  return null;
};

/** Chinese words that sound like these syllables and whose neighbours stand beside each other. */
const wordsOf = (syllables: readonly string[], stands: Stands): string[] => {
  const choices = syllables.map((syllable) =>
    [...(charactersBySound(syllable) ?? [])].filter(stands),
  );
  let words = choices[0] ?? [];
  for (const next of choices.slice(1)) {
    words = words.flatMap((word) =>
      next.filter((letter) => stands(word.slice(-1) + letter)).map((letter) => word + letter),
    );
    if (words.length > mostWords) words = words.slice(0, mostWords);
  }
  return words;
};

/** A name in pinyin, the Latin words that it is written in, and what it may be. */
export interface SoundedName {
  latin: string[];
  words: string[];
}

/** Runs of Latin words that are pinyin of two to four syllables, and no English. */
export const namesBySound = (text: string, stands: Stands): SoundedName[] => {
  const names: SoundedName[] = [];
  for (const [run] of text.matchAll(/[a-z]+(?:[ '][a-z]+)*/g)) {
    const latin = run.split(/[ ']/);
    for (let from = 0; from < latin.length; from += 1)
      for (let to = Math.min(latin.length, from + length.most); to > from; to -= 1) {
        const part = latin.slice(from, to);
        if (part.join('').length < 4 || !part.every((word) => mayBeSyllables.test(word))) continue;
        if (part.some(isEnglishWord)) continue;
        const syllables = part.map(syllablesOf);
        if (syllables.includes(null)) continue;
        const all = syllables.flatMap((each) => each ?? []);
        if (all.length < length.least || all.length > length.most) continue;
        const words = wordsOf(all, stands);
        if (words.length === 0) continue;
        names.push({ latin: part, words });
        from = to - 1;
        break;
      }
  }
  return names;
};
