import type { ContentPart } from '#common/chat-message.ts';
import type { Embedding, StoredSource } from '#contract/embedding.ts';
import { quotesOf } from '#server/search/quotes.ts';
import type { Ranked } from './search-base.ts';

/** What an answer is to rest on: as a model is told it, and as it is kept with the answer. */
export interface Grounds {
  part: ContentPart & { type: 'knowledge' };
  sources: StoredSource[];
}

const strictRule = '只能依据下面的资料回答；资料里没有答案时，直接说明资料中没有，不要自己补充。';
const rule = '回答时优先依据下面的资料；资料不够时可以补充，并说明哪些不是资料里的。';
const doubt = '下面的资料很可能与问题无关：其中没有答案的话，先说明“资料里没有”，不要用它们拼凑。';
const citeRule = '用到一段资料的地方，在句末写出它的编号，如 [1]；只写下面有的编号，不要另列出处。';

/**
 * @param bases those that were asked, each with what its owner wants of answers
 * @param best passages that fit, the best first
 * @param numbered answers name their sources by number
 */
export const groundsOf = (
  bases: readonly { base: Embedding; instruction: string }[],
  best: readonly { base: Embedding; passage: Ranked }[],
  { strict, numbered }: { strict: boolean; numbered: boolean },
): Grounds => {
  const fits = best.some(({ passage }) => passage.fits);
  const top = best[0]?.passage.score ?? 1;
  const quotes = fits
    ? quotesOf(best.map(({ passage }) => ({ ...passage.quotable, weight: passage.score / top })))
    : [];
  const texts = best.map(
    ({ passage: { title, text } }, at) => `【资料 ${at + 1}】${title}\n${text}`,
  );
  const wishes = bases
    .filter(({ instruction }) => instruction.trim() !== '')
    .map(({ base, instruction }) => `知识库「${base.name}」希望的回答方式：${instruction.trim()}`);
  const told = [
    `${strict ? strictRule : rule}${numbered && texts.length > 0 ? citeRule : ''}`,
    ...wishes,
    ...(texts.length > 0 && !fits ? [doubt] : []),
    ...(texts.length > 0 ? texts : ['（没有找到与这个问题有关的资料）']),
  ];
  return {
    part: {
      type: 'knowledge',
      text: told.join('\n\n'),
      bases: bases.map(({ base }) => base.name),
      quotes: best.flatMap(({ passage }, at) => {
        const text = quotes[at] ?? '';
        return text === '' ? [] : [{ n: numbered ? at + 1 : 0, title: passage.title, text }];
      }),
    },
    sources: numbered
      ? best.map(({ base, passage: { id, file, place, url, text, terms } }, at) => ({
          n: at + 1,
          title: file,
          place,
          base: base.name,
          id,
          key: base.key,
          url,
          text,
          terms,
        }))
      : [],
  };
};
