import type { ChatMessage, ContentPart } from '#common/chat-message.ts';
import { asIs, countText, fenced } from './text-tools.ts';

/** What 内置助手 says of attached files and images: it can read the ones and not see the others. */

type AttachedFile = ContentPart & { type: 'file' };

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

const wantsCount = /(?:多少|几).{0,3}(?:字|词|行|个字符)|字数|词数|行数|字符数|统计|多长/;
const wantsFind = /(?:查找|搜索|寻找|找一?下|找出|有没有提到|是否提到|哪里提到|包含)/;
const wantsLines = /第\s*(\d{1,6})\s*(?:到|至|-|~)?\s*(\d{1,6})?\s*行/;

/** Whether a later question is about a file that was attached before it. */
export const asksAboutFiles = (question: string): boolean =>
  wantsCount.test(question) ||
  wantsFind.test(question) ||
  wantsLines.test(question) ||
  /文件|附件|文档|开头|前几行|内容/.test(question);

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
  return after.replace(/(?:吗|么|呢|的地方|的行|的内容)$/, '').trim();
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

/** The answer to a question that came with files; empty without any. */
export const onFiles = (files: readonly AttachedFile[], question: string): string => {
  if (files.length === 0) return '';
  const [, from, to] = wantsLines.exec(question) ?? [];
  const word = wantsFind.test(question) ? sought(question) : '';
  const one = (file: AttachedFile): string => {
    if (from !== undefined) return someLines(file, Number(from), Number(to ?? from));
    if (word !== '') return find(file, word);
    if (wantsCount.test(question))
      return `${nameOf(file)}：\n\n${countText(file.text.slice(0, counted))}`;
    return summary(file);
  };
  const parts = files.map((file) => one(file) + cutNote(file));
  const understood = from !== undefined || word !== '' || wantsCount.test(question);
  if (!understood)
    parts.push(
      '我是内置助手，不是神经网络模型：能数出字数和行数、查找词语、摘出某几行，不会总结和评论。可以问：“有多少字？”“查找‘合同’”“第 5 到 10 行”。',
    );
  return parts.join('\n\n');
};
