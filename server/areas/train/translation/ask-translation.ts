import type { ChatMessage } from '#common/chat-message.ts';
import { wordsOf } from './marks.ts';

/** Letters and sentences of one request. */
const bounds = { letters: 1500, sentences: 30 };

export type Direction = 1 | 2;

/** 1 English to Chinese, 2 Chinese to English. */
export const directionOf = ({ type }: { type?: unknown }): Direction =>
  Number(type) === 2 ? 2 : 1;

const languages = {
  1: { from: '英文', to: '中文' },
  2: { from: '中文', to: '英文' },
} as const;

/** Addresses of pages and of mail. One begins where none could have begun before: each letter is read once. */
const addresses = /https?:\/\/\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]+/g;

/** Whether there is anything in a sentence that this direction translates. */
export const needsWork = (source: string, direction: Direction): boolean => {
  const words = wordsOf(source).replaceAll(addresses, ' ');
  return direction === 1 ? /\p{Script=Latin}{2}/u.test(words) : /\p{Script=Han}/u.test(words);
};

/** As many of these as go into one request. */
export const nextBatch = <T extends { source: string }>(waiting: readonly T[]): T[] => {
  const batch: T[] = [];
  let letters = 0;
  for (const each of waiting) {
    if (batch.length > 0 && letters + each.source.length > bounds.letters) break;
    batch.push(each);
    letters += each.source.length;
    if (batch.length === bounds.sentences) break;
  }
  return batch;
};

export interface Term {
  source: string;
  target: string;
}

/** What the model is asked, a numbered line for each sentence. */
export const askFor = (
  sources: readonly string[],
  options: { direction: Direction; glossary: readonly Term[]; before: readonly Term[] },
): ChatMessage[] => {
  const { from, to } = languages[options.direction];
  const all = sources.join('\n').toLowerCase();
  const terms = options.glossary.filter(
    ({ source, target }) => source !== '' && target !== '' && all.includes(source.toLowerCase()),
  );
  const rules = [
    `你是专业译者，把${from}文档译成自然、准确的${to}。`,
    '每一行开头是编号，如 [3]。译文每行保留同样的编号，一行对一行，不合并、不拆分、不解释。',
    '形如 <1>、</1>、<2/> 的标记原样保留，放在译文里相应的位置。代码、网址、变量名不译。',
    ...(terms.length > 0
      ? [`术语必须这样译：${terms.map(({ source, target }) => `${source} → ${target}`).join('；')}`]
      : []),
    ...(options.before.length > 0
      ? [
          `前文已经这样译，用语保持一致：\n${options.before
            .map(({ source, target }) => `${source.slice(0, 200)} → ${target.slice(0, 200)}`)
            .join('\n')}`,
        ]
      : []),
  ];
  return [
    { role: 'system', content: rules.join('\n') },
    {
      role: 'user',
      content: sources
        .map((source, at) => `[${at + 1}] ${source.replaceAll('\n', ' ')}`)
        .join('\n'),
    },
  ];
};

/** Its lines after one another. */
const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
    .join(' ');

/** The answer's sentences by the place of their source, those that are there. */
export const readAnswer = (answer: string, count: number): Map<number, string> => {
  const found = new Map<number, string>();
  const parts = answer.split(/^[^\S\n]*[[【](\d{1,3})[\]】]/m);
  for (let at = 1; at + 1 < parts.length; at += 2) {
    const place = Number(parts[at]) - 1;
    const text = inOneLine(parts[at + 1] ?? '');
    if (place >= 0 && place < count && text !== '' && !found.has(place)) found.set(place, text);
  }
  // A single sentence often comes without its number.
  const alone = answer.trim();
  if (count === 1 && found.size === 0 && alone !== '') found.set(0, inOneLine(alone));
  return found;
};
