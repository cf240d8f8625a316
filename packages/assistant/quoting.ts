import type { ChatMessage, ContentPart, Quote } from '#common/chat-message.ts';
import { asIs } from './text-tools.ts';

/** What 内置助手 answers from knowledge bases: their own sentences. */

type Knowledge = ContentPart & { type: 'knowledge' };

/** What knowledge bases have on the question; null: none is asked. */
export const knowledgeIn = (content: ChatMessage['content']): Knowledge | null =>
  typeof content === 'string'
    ? null
    : (content.find((part): part is Knowledge => part.type === 'knowledge') ?? null);

const namesOf = (bases: readonly string[]): string =>
  bases.map((name) => `「${asIs(name)}」`).join('、');

export const onlyQuotes =
  '我是内置助手，只摘出原文；要归纳和推理，请新建会话换一个模型；还没有的，[连接一个](/help?page=connect)。';

/** Sentences in their own words, each with its source. */
export const quotedLines = (quotes: readonly Quote[]): string =>
  quotes
    .map(({ n, title, text }) => {
      const source = n > 0 ? ` [${n}]` : `\n>\n> —— ${asIs(title)}`;
      return `> ${asIs(text.replaceAll('\n', ' '))}${source}`;
    })
    .join('\n\n');

/** The sentences that answer, each with its source; null: none does. */
export const quoted = ({ quotes, bases }: Knowledge): string | null =>
  quotes.length === 0
    ? null
    : `${quotedLines(quotes)}\n\n以上是知识库${namesOf(bases)}的原文。${onlyQuotes}`;

export const nothingFits = ({ bases }: Knowledge): string =>
  `资料里没有能回答这个问题的内容。\n\n我在知识库${namesOf(bases)}里没有找到相关的原文。可以换个说法，或用资料里会写的词再问一次。`;
