import { type ChatMessage, imagesOf, type Quote, textOf } from '#common/chat-message.ts';
import { talkInstruction, withoutSpeaker } from '#common/talk.ts';
import { arithmetic } from './arithmetic.ts';
import {
  asksAboutFiles,
  attachedFiles,
  type AttachedFile,
  onFiles,
  onImages,
  wantsQuotes,
} from './attachments.ts';
import { dates } from './dates.ts';
import { questionsOf } from './questions.ts';
import { knowledgeIn, nothingFits, quoted } from './quoting.ts';
import { samples } from './samples.ts';
import { abilities, isCourtesy, talk } from './talk.ts';
import { asIs, draw, textTool } from './text-tools.ts';
import { conversion } from './units.ts';

/** A part of a page of the help: Markdown below one of its headings. */
export interface Section {
  page: { slug: string; title: string };
  /** Empty for what stands before the first heading. */
  heading: string;
  text: string;
}

export interface Passage {
  item: Section;
  /** BM25. */
  score: number;
  /** How much of what was asked is in it, 0–1. */
  coverage: number;
}

export interface Handbook {
  /** What answers a question best, best first. Empty: nothing on it. */
  search: (query: string, most: number) => Passage[];
}

export interface Surroundings {
  help: Handbook;
  now: Date;
  /** What attached files say on what `askedOfFiles` gave; left out: that was not looked for. */
  quotes?: readonly Quote[] | null;
}

/** A question longer than this is a text, not a sum or a date. */
const shortQuestion = 200;
/** Whether a section is the answer: it holds half of the question's words if they are rare, else nearly all. */
const isEnough = ({ coverage, score }: Passage): boolean =>
  (coverage >= 0.5 && score >= 6) || (coverage >= 0.9 && score >= 3.5);
const quoteLetters = 1500;

const link = ({ page }: Section) => `[${page.title}](/help?page=${page.slug})`;

const unique = (sections: Section[]): Section[] =>
  sections.filter((section, at) => sections.findIndex((each) => each.page === section.page) === at);

/** The text of a section, cut at a paragraph. */
const quote = ({ text }: Section): string => {
  if (text.length <= quoteLetters) return text;
  const cut = text.lastIndexOf('\n\n', quoteLetters);
  return `${text.slice(0, cut > 0 ? cut : quoteLetters)}\n\n……`;
};

const otherModels =
  '我是内置助手，不是神经网络模型，只会查帮助和做一些计算；要问任何问题，请[连接一个模型服务](/help?page=connect)，或换一个模型。';

/** The section of the help that answers a question, or null when none does. */
const fromHelp = (question: string, help: Handbook): string | null => {
  const [best, ...rest] = help.search(question, 6);
  if (!best || !isEnough(best)) return null;
  const { item } = best;
  const title = item.heading === '' ? item.page.title : item.heading;
  const more = unique(rest.map((hit) => hit.item).filter((each) => each.page !== item.page));
  const also = more.length > 0 ? `\n\n相关：${more.slice(0, 2).map(link).join('、')}` : '';
  return `### ${title}\n\n${quote(item)}\n\n---\n\n摘自帮助页${link(item)}。${also}`;
};

const unknown = (question: string, help: Handbook): string => {
  const near = unique(help.search(question, 6).map((hit) => hit.item)).slice(0, 3);
  const pages = near.length > 0 ? `\n\n也许这几页有用：${near.map(link).join('、')}。` : '';
  return `这个我不知道。${otherModels}${pages}\n\n${abilities}`;
};

/** The rules that are tools, too: what each works out of a question; null: it is not about that. */
export const reckoners = {
  date: (question: string, now: Date) => dates(question, now),
  units: (question: string) => conversion(question),
  reckon: (question: string, before = '') => arithmetic(question, before),
} as const;

/** 在本站搜索“鹊桥”, 帮我找一下以前聊过的合同: what is looked for here. */
const searchHere =
  /^(?:请)?(?:帮我)?(?:在)?(?:本站|站内|这里|我的会话里?|以前的会话里?|以前聊过的)(?:里|内)?(?:搜索|搜一?下|搜|查找|找一?下|找)(?:关于)?[\s：:“"]*(.+?)[”"。？?！!\s]*$/;

/** 画一只在雪地里的猫: what is to be drawn. */
const drawing = /^(?:请)?(?:帮我|给我|为我)?画(?:(?:一|1|两|2)?[张幅只个副]|图[：:])\s*(.{2,300})$/;

/** 把它改成蓝色的, 把刚才的图片放大, 让它动起来: what is done with the picture that was drawn last. */
const changing =
  /^(?:请)?(?:帮我)?(?:把|将)(?:它|图|这张图?|那张图?|(?:刚才|上面)的?图?|图片)片?(?:里的)?(?:改成|变成|换成|画成)\s*(.{2,200})$/;
const onPicture =
  /^(?:请)?(?:帮我)?(?:把|将|给|让)?(?:它|图|这张图?|那张图?|(?:刚才|上面)的?图?|图片)片?(放大(?:一倍|两倍)?|去掉背景|去背景|抠图|动起来|做成视频|变成视频)$/;

/** 朗读：床前明月光, 念一下“床前明月光”: what is read aloud. */
const reading = /^(?:请)?(?:帮我|给我)?(?:朗读|念)(?:一下|一段|出来)?[\s：:“"]+(.{2,2000}?)[”"]?$/s;

/** A call that does something with a picture of the conversation, or reads aloud; null: none. */
const madeOf = (question: string): { name: string; arguments: Record<string, string> } | null => {
  const [, prompt] = changing.exec(question) ?? [];
  if (prompt !== undefined) return { name: 'edit_image', arguments: { prompt } };
  const [, what = ''] = onPicture.exec(question) ?? [];
  if (what.startsWith('放大')) return { name: 'edit_image', arguments: { way: 'upscale' } };
  if (/背景|抠图/.test(what))
    return { name: 'edit_image', arguments: { way: 'remove_background' } };
  if (what !== '') return { name: 'make_film', arguments: {} };
  const [, text] = reading.exec(question) ?? [];
  return text === undefined ? null : { name: 'speak', arguments: { text } };
};

/** 联网搜索“鹊桥”, 上网查一下天气: what is looked for on the web. */
const searchWeb =
  /^(?:请)?(?:帮我)?(?:联网|上网|在网上|网上|在互联网上)(?:里|上)?(?:搜索|搜一?下|搜|查找|查一?下|查|找一?下|找)(?:关于)?[\s：:“"]*(.+?)[”"。？?！!\s]*$/;

/** The call of a tool that answers a question by itself; null: none does. */
export const calledFor = (
  messages: readonly ChatMessage[],
  now: Date,
): { name: string; arguments: Record<string, string> } | null => {
  const said = (by: ChatMessage['role']) =>
    messages.filter(({ role }) => role === by).at(-1)?.content ?? '';
  const asked = said('user');
  const question = withoutCourtesies(wordsOf(asked).trim());
  // Files, images and knowledge bases have rules of their own.
  if (question.length > shortQuestion || (typeof asked !== 'string' && asked.length > 1))
    return null;
  if (messages.some(({ role }) => role === 'system')) return null;
  const query = searchHere.exec(question)?.[1];
  if (drawing.test(question))
    return {
      name: 'draw',
      arguments: { prompt: question.replace(/^(?:请)?(?:帮我|给我|为我)?画(?:图[：:])?/, '') },
    };
  const made = madeOf(question);
  if (made) return made;
  const sought = searchWeb.exec(question)?.[1];
  if (sought !== undefined) return { name: 'web_search', arguments: { query: sought } };
  if (query !== undefined) return { name: 'search_here', arguments: { query } };
  if (questionsOf(question).length > 1 || textTool(question) !== null || draw(question) !== null)
    return null;
  if (samples(question) !== null) return null;
  const before = textOf(said('assistant'));
  if (reckoners.date(question, now) !== null) return { name: 'date', arguments: { question } };
  if (reckoners.units(question) !== null) return { name: 'units', arguments: { question } };
  // A sum that goes on from what was said before is worked out here, where that is known.
  return reckoners.reckon(question) !== null &&
    reckoners.reckon(question) === reckoners.reckon(question, before)
    ? { name: 'reckon', arguments: { question } }
    : null;
};

/** @param before what was answered before, whose result a sum may go on from */
const byReckoning = (question: string, before: string, now: Date): string | null =>
  question.length > shortQuestion
    ? null
    : (samples(question) ??
      dates(question, now) ??
      conversion(question) ??
      arithmetic(question, before) ??
      talk(question));

const byRule = (question: string, before: string, now: Date): string | null =>
  draw(question) ?? byReckoning(question, before, now);

/**
 * The answers to a message that asks several things, each below its question, and what is left
 * unanswered said; null when it had better be answered as one.
 */
const onEach = (message: string, before: string, { help, now }: Surroundings): string | null => {
  const asked = questionsOf(message);
  if (asked.length < 2) return null;
  const parts: { text: string; reply: string | null; isByRule: boolean }[] = [];
  let last = before;
  for (const { text, asks } of asked) {
    const ruled = byRule(text, last, now);
    const reply = ruled ?? (asks ? fromHelp(text, help) : null);
    if (ruled !== null) last = ruled;
    // What only tells something may be needed by the others, and wants no answer.
    if (reply !== null || asks) parts.push({ text, reply, isByRule: ruled !== null });
  }
  const replies = new Set(parts.map(({ reply }) => reply));
  if (replies.size < 2) return null;
  // Words of one part may belong to another: 2027-03-05。还有几天？
  const whole = byReckoning(message, before, now);
  if (whole !== null && !replies.has(whole)) return null;
  if (replies.has(null) && !parts.some(({ isByRule }) => isByRule)) return null;
  const texts = parts.map(({ text, reply }) => `> ${asIs(text)}\n\n${reply ?? '这个我不知道。'}`);
  if (replies.has(null)) texts.push(`---\n\n${otherModels}`);
  return texts.join('\n\n');
};

/** 你好！今天星期几？ asks for the day alone. */
const withoutCourtesies = (message: string): string => {
  const said = questionsOf(message).map(({ text }) => text);
  const matter = said.filter((text) => !isCourtesy(text));
  return matter.length > 0 && matter.length < said.length ? matter.join('\n') : message;
};

/** What the message says itself, without the files that it carries. */
const wordsOf = (content: ChatMessage['content']): string =>
  typeof content === 'string' ? content : textOf(content.filter((part) => part.type !== 'file'));

/** The last message of a conversation, and what it may be about. */
const heard = (messages: readonly ChatMessage[]) => {
  const of = (role: ChatMessage['role']): ChatMessage['content'] =>
    messages.filter((message) => message.role === role).at(-1)?.content ?? '';
  const asked = of('user');
  const words = wordsOf(asked).trim();
  const question = textOf(of('system')) === talkInstruction ? withoutSpeaker(words).trim() : words;
  const files = attachedFiles(asked);
  return {
    question,
    matter: withoutCourtesies(question),
    before: textOf(of('assistant')),
    images: onImages(imagesOf(asked).length),
    knowledge: knowledgeIn(of('system')),
    files,
    /** Attached to earlier questions. */
    earlier: files.length > 0 ? [] : messages.flatMap(({ content }) => attachedFiles(content)),
  };
};
type Heard = ReturnType<typeof heard>;

const nowhere: Handbook = { search: () => [] };

/** What is answered by rules, whatever was attached before; null: nothing. */
const ruled = ({ question, matter, before, earlier }: Heard, { help, now }: Surroundings) => {
  const onEarlier = earlier.length > 0 && asksAboutFiles(question);
  // The help says nothing of what may stand in a file.
  const each = { help: earlier.length > 0 ? nowhere : help, now };
  return (
    textTool(question) ??
    (onEarlier ? null : onEach(matter, before, each)) ??
    byRule(matter, before, now)
  );
};

/**
 * What is asked of attached files, this message's or earlier ones', that their own sentences are to
 * answer; null: nothing.
 */
export const askedOfFiles = (
  messages: readonly ChatMessage[],
  now: Date,
): { question: string; files: AttachedFile[] } | null => {
  const said = heard(messages);
  const { matter, files, earlier } = said;
  if (isCourtesy(matter) || !wantsQuotes(matter)) return null;
  if (files.length > 0) return { question: matter, files };
  if (earlier.length === 0) return null;
  const known = said.knowledge
    ? (quoted(said.knowledge) ?? talk(matter))
    : ruled(said, { help: nowhere, now });
  if (known !== null) return null;
  return { question: matter, files: earlier };
};

/** The reply, as Markdown, to the last message of a conversation. */
export const answer = (
  messages: readonly ChatMessage[],
  { help, now, quotes = null }: Surroundings,
): string => {
  const said = heard(messages);
  const { question, matter, before, images, knowledge, files, earlier } = said;
  const ofBases = knowledge && !isCourtesy(matter) ? quoted(knowledge) : null;
  if (files.length > 0 || images !== '') {
    const none = quotes?.length === 0 ? (ofBases ?? byRule(matter, before, now)) : null;
    const ofFiles = files.length > 0 ? (none ?? onFiles(files, question, quotes)) : '';
    return [images, ofFiles].filter((part) => part !== '').join('\n\n');
  }
  if (knowledge && !isCourtesy(matter)) {
    const ofFiles = quotes?.length ? onFiles(earlier, question, quotes) : null;
    return ofBases ?? talk(matter) ?? ofFiles ?? nothingFits(knowledge);
  }
  const byRules = ruled(said, { help, now });
  if (byRules !== null) return byRules;
  if (earlier.length > 0 && (quotes?.length || asksAboutFiles(question)))
    return onFiles(earlier, question, quotes);
  const fromPages = fromHelp(matter, help);
  return fromPages ?? (quotes ? onFiles(earlier, question, quotes) : unknown(matter, help));
};
