import type { HelpSection, HelpService } from '../../help/help.service.ts';
import { type ChatMessage, picturesOf, textOf } from '../chat-engine.ts';
import { arithmetic } from './arithmetic.ts';
import { asksAboutFiles, attachedFiles, onFiles, onPictures } from './attachments.ts';
import { dates } from './dates.ts';
import { samples } from './samples.ts';
import { abilities, talk } from './talk.ts';
import { textTools } from './text-tools.ts';
import { conversion } from './units.ts';

export interface Surroundings {
  help: HelpService;
  now: Date;
}

/** A question longer than this is a text, not a sum or a date. */
const shortQuestion = 200;
/** Share of the question's words that a section must hold to count as its answer. */
const enough = { coverage: 0.5, score: 6 };
const quoteLetters = 1500;

const link = ({ page }: HelpSection) => `[${page.title}](/help?page=${page.slug})`;

const unique = (sections: HelpSection[]): HelpSection[] =>
  sections.filter((section, at) => sections.findIndex((each) => each.page === section.page) === at);

/** The text of a section, cut at a paragraph. */
const quote = ({ text }: HelpSection): string => {
  if (text.length <= quoteLetters) return text;
  const cut = text.lastIndexOf('\n\n', quoteLetters);
  return `${text.slice(0, cut > 0 ? cut : quoteLetters)}\n\n……`;
};

const fromHelp = (question: string, help: HelpService): string => {
  const hits = help.search(question, 6);
  const [best, ...rest] = hits;
  if (!best || best.coverage < enough.coverage || best.score < enough.score) {
    const near = unique(hits.map((hit) => hit.item)).slice(0, 3);
    const pages = near.length > 0 ? `\n\n也许这几页有用：${near.map(link).join('、')}。` : '';
    return `这个我不知道。我是内置助手，不是神经网络模型，只会查帮助和做一些计算；要问任何问题，请[连接一个模型服务](/help?page=connect)，或换一个模型。${pages}\n\n${abilities}`;
  }
  const { item } = best;
  const title = item.heading === '' ? item.page.title : item.heading;
  const more = unique(rest.map((hit) => hit.item).filter((each) => each.page !== item.page));
  const also = more.length > 0 ? `\n\n相关：${more.slice(0, 2).map(link).join('、')}` : '';
  return `### ${title}\n\n${quote(item)}\n\n---\n\n摘自帮助页${link(item)}。${also}`;
};

/** What the message says itself, without the files that it carries. */
const wordsOf = (content: ChatMessage['content']): string =>
  typeof content === 'string' ? content : textOf(content.filter((part) => part.type !== 'file'));

/** The reply, as Markdown, to the last message of a conversation. */
export const answer = (messages: readonly ChatMessage[], { help, now }: Surroundings): string => {
  const of = (role: ChatMessage['role']): ChatMessage['content'] =>
    messages.filter((message) => message.role === role).at(-1)?.content ?? '';
  const asked = of('user');
  const question = wordsOf(asked).trim();
  const files = attachedFiles(asked);
  const pictures = onPictures(picturesOf(asked).length);
  if (files.length > 0 || pictures !== '')
    return [pictures, onFiles(files, question)].filter((part) => part !== '').join('\n\n');
  const tool = textTools(question);
  if (tool !== null) return tool;
  if (question.length <= shortQuestion) {
    const short =
      samples(question) ??
      dates(question, now) ??
      conversion(question) ??
      arithmetic(question, textOf(of('assistant'))) ??
      talk(question);
    if (short !== null) return short;
  }
  // A question about a file that was attached to an earlier one.
  const earlier = messages.flatMap(({ content }) => attachedFiles(content));
  if (earlier.length > 0 && asksAboutFiles(question)) return onFiles(earlier, question);
  return fromHelp(question, help);
};
