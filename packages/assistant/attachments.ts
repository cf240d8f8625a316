import type { ChatMessage, ContentPart, Quote } from '#common/chat-message.ts';
import { onlyQuotes, quotedLines } from './quoting.ts';
import { asIs, countText, fenced } from './text-tools.ts';

/** What 内置助手 says of attached files and images: it can read the ones and not see the others. */

export type AttachedFile = ContentPart & { type: 'file' };

/** Of a file's beginning: lines, and characters of them. */
const shown = { lines: 12, letters: 1200 };
/** Lines that hold a looked-for word. */
const mostHits = 8;
/** Counting goes no further, UTF-16 units. */
const counted = 200_000;

export const attachedFiles = (content: ChatMessage['content']): AttachedFile[] =>
  typeof content === 'string' ? [] : content.filter((part) => part.type === 'file');

export const onImages = (count: number): string =>
  count === 0
    ? ''
    : `我收到了 ${count} 张图片，但看不见它${count > 1 ? '们' : ''}：我是内置助手，不是神经网络模型。要谈论图片，请换一个能看图的模型，或[连接一个模型服务](/help?page=connect)。`;

const wantsCount =
  /(?:多少|几)个?(?:汉字|单词|字符|[字词行](?![节幕段典业政人员程李动为星家汇条]))|字数|词数|行数|字符数|^(?:请|帮我)*统计|^(?:这个|那个)?(?:文件|附件|文档|文章|全文)?有?多长[？?]?$/;
const wantsFind = /(?:查找|搜索|寻找|找一?下|找出|有没有提到|是否提到|哪里提到|包含)/;
const wantsLines = /第\s*(\d{1,6})\s*(?:到|至|-|~)?\s*(\d{1,6})?\s*行/;

/** What is asked for of a file as a whole, which no sentence of it answers. */
const ofTheWhole =
  /总结|概括|归纳|摘要|大意|梗概|要点|重点|主旨|主题|主要|中心思想|思想|全文|整理(?:出来)?|提炼(?:出来)?|翻译成?|译成?|改写|润色|校对|分析|评价|评论|解读|解释|介绍|说明|朗读|[中英日法德]文|[一二两三四五六七八九十百\d]+(?:句话?|点|条|个?字|段)|summar\w*|translate|english|chinese/gi;
/** Words that say nothing of the matter where a file is spoken of. */
const aboutIt =
  /文件|附件|文档|文章|资料|表格|材料|东西|内容|[这那]|[个份篇张些]|里面|里|中|的|请|帮|麻烦|能不能|可以|可不可以|能|我|你|您|把|将|给|它|都|看看|看一?下|看|读一?下|读|说一?说|[说讲写]|了|是|关于|什么|啥|怎么样|如何|有|吗|呢|吧|一下|下|\b(?:this|that|what|the|file|document|about|please|is|it|to|of|in)\b/gi;

/** Whether a question is about the whole of a file, not about something that stands in it. */
const wantsWhole = (question: string): boolean =>
  !/[谁哪几]|[\p{L}\p{N}].*[\p{L}\p{N}]/su.test(
    question.replace(ofTheWhole, '').replace(aboutIt, ''),
  );

/** Whether a later question is about a file that was attached before it. */
export const asksAboutFiles = (question: string): boolean =>
  wantsCount.test(question) ||
  wantsFind.test(question) ||
  wantsLines.test(question) ||
  /文件|附件|文档|开头|前几行|内容|总结|概括|归纳|摘要|大意|要点/.test(question);

const nameOf = ({ name }: AttachedFile): string => `《${asIs(name)}》`;

const cutNote = ({ cut }: AttachedFile): string =>
  cut ? '\n\n（文件太长，只读到了前面的部分。）' : '';

const beginning = (text: string): string => {
  const lines = text.split('\n', shown.lines);
  const start = lines.join('\n').slice(0, shown.letters);
  return `${fenced(start.trimEnd())}${start.length < text.trimEnd().length ? '\n\n……' : ''}`;
};

const linesOf = ({ text }: AttachedFile): string[] => text.split('\n');

const sought = (question: string): string => {
  const quoted = /[“"「『《']([^”"」』》']{1,60})[”"」』》']/.exec(question)?.[1];
  if (quoted) return quoted;
  const [, after = ''] =
    /(?:查找|搜索|寻找|找一?下|找出|提到了?|包含)\s*[:：]?\s*(\S[^，。？！?!\n]{0,60})/.exec(
      question,
    ) ?? [];
  // 包含哪些费用 looks for no word.
  return /什么|哪|多少|几|谁|怎/.test(after)
    ? ''
    : after.replace(/(?:吗|么|呢|的地方|的行|的内容)$/, '').trim();
};

const find = (file: AttachedFile, word: string): string => {
  const lower = word.toLowerCase();
  const hits = linesOf(file)
    .map((line, at) => ({ line, number: at + 1 }))
    .filter(({ line }) => line.toLowerCase().includes(lower));
  if (hits.length === 0) return `${nameOf(file)}里没有“${word}”。`;
  const rows = hits
    .slice(0, mostHits)
    .map(({ line, number }) => `${number}: ${line.slice(0, 200)}`)
    .join('\n');
  const more = hits.length > mostHits ? `，前 ${mostHits} 行是` : '';
  return `${nameOf(file)}里有 ${hits.length} 行提到“${word}”${more}：\n\n${fenced(rows)}`;
};

const someLines = (file: AttachedFile, from: number, to: number): string => {
  const lines = linesOf(file);
  if (from < 1 || from > lines.length)
    return `${nameOf(file)}只有 ${lines.length} 行，没有第 ${from} 行。`;
  const last = Math.min(to, from + 99, lines.length);
  const text = lines
    .slice(from - 1, last)
    .join('\n')
    .slice(0, shown.letters * 5);
  const which = last > from ? `第 ${from} 到 ${last} 行` : `第 ${from} 行`;
  return `${nameOf(file)}的${which}：\n\n${fenced(text)}`;
};

const summary = (file: AttachedFile): string =>
  `${nameOf(file)}有 ${linesOf(file).length} 行、${file.text.length} 个字符，开头是：\n\n${beginning(file.text)}`;

/** What a question asks for that rules answer. */
const ruledBy = (question: string) => {
  const [, from, to] = wantsLines.exec(question) ?? [];
  return {
    lines: from === undefined ? null : { from: Number(from), to: Number(to ?? from) },
    word: wantsFind.test(question) ? sought(question) : '',
    count: wantsCount.test(question),
  };
};

/** Whether sentences of files are to be looked for that answer a question. */
export const wantsQuotes = (question: string): boolean => {
  const { lines, word, count } = ruledBy(question);
  return lines === null && word === '' && !count && !wantsWhole(question);
};

const quotedFrom = (files: readonly AttachedFile[], quotes: readonly Quote[]): string => {
  const cut = files.some((file) => file.cut) ? '文件太长，只读到了前面的部分。' : '';
  const names = files.map(nameOf).join('、');
  return quotes.length > 0
    ? `${quotedLines(quotes)}\n\n以上是附件的原文。${cut}${onlyQuotes}`
    : `附件里没有能回答这个问题的内容。\n\n我在${names}里没有找到相关的原文。${cut}可以换个说法，或用文件里会写的词再问一次；也可以问：“有多少字？”“查找‘合同’”“第 5 到 10 行”。`;
};

/**
 * The answer to a question that came with files.
 * @param quotes what of them answers it; null: that was not looked for
 */
export const onFiles = (
  files: readonly AttachedFile[],
  question: string,
  quotes: readonly Quote[] | null,
): string => {
  if (quotes !== null) return quotedFrom(files, quotes);
  const { lines, word, count } = ruledBy(question);
  const one = (file: AttachedFile): string => {
    if (lines) return someLines(file, lines.from, lines.to);
    if (word !== '') return find(file, word);
    if (count) return `${nameOf(file)}：\n\n${countText(file.text.slice(0, counted))}`;
    return summary(file);
  };
  const parts = files.map((file) => one(file) + cutNote(file));
  if (!lines && word === '' && !count)
    parts.push(
      '我是内置助手，不是神经网络模型：会摘出回答问题的原文，能数出字数和行数、查找词语、摘出某几行，不会总结和评论。可以问：“有多少字？”“查找‘合同’”“第 5 到 10 行”。',
    );
  return parts.join('\n\n');
};
