import { parentPort } from 'node:worker_threads';
import { chunksOf, type Section } from '../../embedding/chunk.ts';
import { decodeText } from '../../file/decode.ts';
import { pdfPages } from '../../file/pdf-pages.ts';
import {
  docxParts,
  isHeadingParagraph,
  paragraphDocument,
  paragraphsOf,
  textOf,
  wordDocument,
} from '../translation/docx.ts';
import {
  html,
  htmlTokens,
  markdown,
  plainText,
  subtitles,
  type Translatable,
  unescapeHtml,
} from '../translation/plain-formats.ts';
import type { FileKind } from './kinds.ts';
import type { ReadAnswer, ReadAnswers, ReadTask } from './read-task.ts';
import { Unwanted } from './archive-rules.ts';
import { unpack } from './unpack.ts';
import { usualForms } from '../../../search/forms.ts';

/** Reads people's files, one after the other, and says what is in them; whoever started this ends it. */

/** Letters of one file that are learned. */
const mostText = 4_000_000;

const unreadable = '文件已损坏、已加密或无法读取';

const textIn = (data: Uint8Array): string => {
  const text = decodeText(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (text === null) throw new Unwanted('这个文件不是文本，无法读取');
  return text.replace(/^\uFEFF/, '').replaceAll('\0', '');
};

const oldWord = async (data: Uint8Array): Promise<string> => {
  const { default: WordExtractor } = await import('word-extractor');
  const document = await new WordExtractor().extract(Buffer.from(data));
  return document.getBody().replaceAll('\0', '');
};

/** Sections by headings, of lines that say whether they are one. */
const byHeadings = (lines: Iterable<{ text: string; level: number }>): Section[] => {
  const sections: Section[] = [];
  const path: string[] = [];
  let text = '';
  const flush = () => {
    const heading = path
      .filter((part) => part !== undefined && part !== '')
      .join(' › ')
      .slice(0, 200);
    if (text.trim() !== '') sections.push({ page: 0, heading, text });
    text = '';
  };
  for (const line of lines)
    if (line.level > 0) {
      flush();
      path.length = line.level - 1;
      path[line.level - 1] = line.text.trim().slice(0, 80);
    } else text += `${line.text}\n`;
  flush();
  return sections;
};

/** What stands before a page's text, such as `title: …`: its title goes with all of it. */
const frontMatter = /^---\n([^]*?)\n---\n/;

const markdownLines = function* (text: string) {
  const front = frontMatter.exec(text);
  const title = /^title:\s*["']?(.+?)["']?\s*$/m.exec(front?.[1] ?? '')?.[1] ?? '';
  if (title !== '') yield { text: title, level: 1 };
  let fence = false;
  for (const line of text.slice(front?.[0].length ?? 0).split('\n')) {
    if (/^\s*(?:```|~~~)/.test(line)) fence = !fence;
    const [, marks = '', words = ''] = fence ? [] : (/^(#{1,6})\s+(.*?)#*\s*$/.exec(line) ?? []);
    yield marks === '' ? { text: line, level: 0 } : { text: words, level: marks.length };
  }
};

const htmlLines = function* (text: string) {
  let hidden = '';
  let level = 0;
  let line = '';
  for (const token of htmlTokens(text)) {
    if (!token.startsWith('<') || token === '<') {
      if (hidden === '') line += unescapeHtml(token).replaceAll(/\s+/g, ' ');
      continue;
    }
    const name = /^<\/?\s*([a-z][\w-]*)/i.exec(token)?.[1]?.toLowerCase() ?? '';
    const closes = token.startsWith('</');
    if (hidden !== '') {
      if (closes && name === hidden) hidden = '';
      continue;
    }
    if (/^(?:script|style|svg|template|noscript|head)$/.test(name) && !closes) hidden = name;
    else if (
      /^(?:p|div|li|tr|br|table|ul|ol|section|article|blockquote|pre|h[1-6]|dd|dt)$/.test(name)
    ) {
      if (line.trim() !== '') yield { text: line.trim(), level };
      line = '';
      const heading = /^h([1-6])$/.exec(name)?.[1];
      level = heading !== undefined && !closes ? Number(heading) : 0;
    } else if (/^t[dh]$/.test(name) && closes) line += ' ';
  }
  if (line.trim() !== '') yield { text: line.trim(), level: 0 };
};

const wordLines = function* (data: Uint8Array) {
  const parts = docxParts(data, (name) => name === 'word/document.xml');
  const xml = new TextDecoder().decode(parts['word/document.xml']);
  for (const paragraph of paragraphsOf(xml)) {
    const text = textOf(paragraph);
    const heading = text.trim() !== '' && text.length < 100 && isHeadingParagraph(paragraph);
    const told = paragraph.outline ?? Number(/\d/.exec(paragraph.style)?.[0] ?? 1) - 1;
    yield { text, level: heading ? Math.min(6, Math.max(1, told + 1)) : 0 };
  }
};

const sectionsOf = async (
  kind: FileKind,
  data: Uint8Array,
): Promise<{ sections: Section[]; cut: boolean }> => {
  const of = (sections: Section[]) => ({ sections, cut: false });
  switch (kind) {
    case 'pdf': {
      const { pages, cut } = await pdfPages(data, mostText);
      const sections = pages.map((text, at) => ({
        page: at + 1,
        heading: '',
        text: text.replaceAll('\0', ''),
      }));
      if (!sections.some(({ text }) => text.trim() !== ''))
        throw new Unwanted('这个 PDF 里没有文字（可能是扫描的图片）');
      return { sections, cut };
    }
    case 'docx':
      return of(byHeadings(wordLines(data)));
    case 'doc':
      return of([{ page: 0, heading: '', text: await oldWord(data) }]);
    case 'markdown':
      return of(byHeadings(markdownLines(textIn(data))));
    case 'html':
      return of(byHeadings(htmlLines(textIn(data))));
    default:
      return of([{ page: 0, heading: '', text: textIn(data) }]);
  }
};

const documentOf = async (kind: FileKind, data: Uint8Array): Promise<Translatable> => {
  switch (kind) {
    case 'pdf': {
      const { pages } = await pdfPages(data, mostText);
      const text = pages.join('\n\n').replaceAll('\0', '');
      if (text.trim() === '') throw new Unwanted('这个 PDF 里没有文字（可能是扫描的图片）');
      return paragraphDocument(text);
    }
    case 'docx':
      return wordDocument(data);
    case 'doc':
      return paragraphDocument(await oldWord(data));
    case 'markdown':
      return markdown(textIn(data));
    case 'html':
      return html(textIn(data));
    case 'subtitles':
      return subtitles(textIn(data));
    default:
      return plainText(textIn(data));
  }
};

const work = async (task: ReadTask): Promise<ReadAnswers[ReadTask['want']]> => {
  switch (task.want) {
    case 'sections': {
      const { sections, cut } = await sectionsOf(task.kind, task.data);
      let left = mostText;
      const kept = sections.flatMap((section) => {
        const text = usualForms(section.text.slice(0, Math.max(0, left)));
        left -= section.text.length;
        const heading = usualForms(section.heading);
        return text.trim() === '' ? [] : [{ ...section, heading, text }];
      });
      if (kept.length === 0) throw new Unwanted('文件里没有文字');
      const chunks = chunksOf(kept, { separator: task.separator, size: task.size }).map(
        ({ page, heading, content }) => ({ page, heading, text: content }),
      );
      return { chunks, cut: cut || left < 0 };
    }
    case 'files':
      return unpack(task.name, task.data);
    case 'segments': {
      const { segments } = await documentOf(task.kind, task.data);
      if (!segments.some((text) => text.trim() !== '')) throw new Unwanted('文件里没有文字');
      if (segments.length > 50_000) throw new Unwanted('文件太长，请分成几个');
      return { segments };
    }
    default: {
      const document = await documentOf(task.kind, task.data);
      const { bilingual } = task;
      return { data: document.write(task.targets, { bilingual }), ending: document.ending };
    }
  }
};

const answerTo = async (task: ReadTask): Promise<ReadAnswer> => {
  try {
    return { done: await work(task) };
  } catch (error) {
    // Whatever else is wrong with it, it cannot be read.
    return { refused: error instanceof Unwanted ? error.message : unreadable };
  }
};

parentPort?.on('message', (task: ReadTask) => {
  void answerTo(task).then((answer) => parentPort?.postMessage(answer, []));
});
