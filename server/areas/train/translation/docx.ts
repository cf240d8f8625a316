import { zipSync, type Zippable } from 'fflate';
import { unzipped } from '#server/reading/parts.ts';
import { fromXmlText, toXmlText } from '#server/xml-text.ts';
import { unmarked, wordsOf } from './marks.ts';
import type { Translatable } from './plain-formats.ts';

/** Parts that a Word file may hold. */
const mostParts = 2000;
/** The parts that hold words. */
const worded = /^word\/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml$/;

/** All parts of a Word file. @throws Error for what is none, or too large */
export const docxParts = (
  data: Uint8Array,
  wanted: (name: string) => boolean = () => true,
): Record<string, Uint8Array> => {
  const refused = () => new Error('too large');
  const parts = unzipped(data, wanted, { most: mostParts, refused });
  if (!parts['word/document.xml']) throw new Error('no document');
  return parts;
};

/** A `<w:t>` with where it stands, tags included. */
interface Text {
  from: number;
  to: number;
  value: string;
  /** How it looks and where it leads: neighbours that are alike are one. */
  format: string;
}

interface Paragraph {
  from: number;
  to: number;
  texts: Text[];
  /** Identifies the kind of paragraph, such as Heading1. */
  style: string;
  /** Another one stands within it, in a box. */
  holds: boolean;
}

const tags = /<(\/?)w:(p|r|t|rPr|hyperlink|pStyle)(?=[\s>/])([^<>]*?)(\/?)>/g;
const valueOf = (attributes: string): string => /w:val="([^"]*)"/.exec(attributes)?.[1] ?? '';

/** The paragraphs of a part, those within boxes by themselves, in the order of their ends. */
export const paragraphsOf = (xml: string): Paragraph[] => {
  const done: Paragraph[] = [];
  const open: Paragraph[] = [];
  let link = '';
  let format = '';
  let formatFrom = -1;
  let text: { from: number; content: number } | null = null;
  for (const found of xml.matchAll(tags)) {
    const [whole, slash, name, attributes = '', empty] = found;
    const at = found.index;
    const end = at + whole.length;
    const closes = slash === '/';
    const last = open.at(-1);
    if (name === 'p') {
      if (empty === '/') continue;
      if (!closes) {
        if (last) last.holds = true;
        // Nobody nests boxes so deep; what does is no document.
        if (open.length > 40) throw new Error('too deep');
        open.push({ from: at, to: at, texts: [], style: '', holds: false });
      } else if (last) {
        open.pop();
        done.push({ ...last, to: end });
      }
    } else if (name === 'hyperlink') link = closes ? '' : attributes;
    else if (name === 'r') {
      if (!closes) format = '';
    } else if (name === 'rPr') {
      if (empty === '/') continue;
      if (!closes) formatFrom = at;
      else if (formatFrom >= 0) {
        // What a speller or an editor noted makes no difference to the eye.
        format = xml.slice(formatFrom, end).replaceAll(/<w:(?:lang|noProof|rFonts)\b[^<>]*>/g, '');
        formatFrom = -1;
      }
    } else if (name === 'pStyle') {
      if (last) last.style = valueOf(attributes);
    } else if (name === 't') {
      if (empty === '/') continue;
      if (!closes) text = { from: at, content: end };
      else if (text) {
        last?.texts.push({
          from: text.from,
          to: end,
          value: fromXmlText(xml.slice(text.content, at)),
          format: `${link}|${format}`,
        });
        text = null;
      }
    }
  }
  return done;
};

const isCode = /code|代码|source/i;

export const textOf = ({ texts }: Pick<Paragraph, 'texts'>): string =>
  texts.map(({ value }) => value).join('');

/** Texts beside each other that look alike. */
const spansOf = (texts: readonly Text[]): Text[][] => {
  const spans: Text[][] = [];
  for (const text of texts) {
    const last = spans.at(-1);
    if (last?.[0]?.format === text.format) last.push(text);
    else spans.push([text]);
  }
  return spans;
};

interface Place {
  part: string;
  paragraph: Paragraph;
  spans: Text[][];
}

const written = (text: string): string => `<w:t xml:space="preserve">${toXmlText(text)}</w:t>`;

const unmarkedText = (text: string): string => text.replaceAll(/<\/?\d+\/?>/g, '');

/** The words of each mark in a translation; what stands beside a mark goes with the one before it. */
const shares = (target: string, count: number): string[] => {
  if (count === 1) return [wordsOf(target) === '' ? target : unmarkedText(target)];
  const parts = Array.from({ length: count }, () => '');
  let before = '';
  let last: number | null = null;
  let from = 0;
  const beside = (text: string) => {
    // A space between two marks belongs to words that have spaces between them.
    const said = last === null ? '' : (parts[last] ?? '');
    const kept = text.trim() !== '' || /[\w.,;:!?)]$/.test(said) ? unmarkedText(text) : '';
    if (last === null) before += kept;
    else parts[last] = said + kept;
  };
  for (const found of target.matchAll(/<(\d+)>([^]*?)<\/\1>/g)) {
    beside(target.slice(from, found.index));
    from = found.index + found[0].length;
    const at = Number(found[1]) - 1;
    const words = unmarkedText(found[2] ?? '');
    if (parts[at] === undefined) {
      beside(words);
      continue;
    }
    parts[at] += last === null ? before + words : words;
    last = at;
  }
  beside(target.slice(from));
  if (last === null) parts[0] = before;
  return parts;
};

/** Word: the words of each paragraph; all else in the file stays as it is. */
export const wordDocument = (data: Uint8Array): Translatable => {
  const parts = docxParts(data);
  const places: Place[] = [];
  const xmlOf = new Map<string, string>();
  for (const part of Object.keys(parts).filter((name) => worded.test(name))) {
    const xml = new TextDecoder().decode(parts[part]);
    xmlOf.set(part, xml);
    for (const paragraph of paragraphsOf(xml)) {
      if (isCode.test(paragraph.style) || textOf(paragraph).trim() === '') continue;
      places.push({ part, paragraph, spans: spansOf(paragraph.texts) });
    }
  }
  const segments = places.map(({ spans }) => {
    const words = spans.map((span) => span.map(({ value }) => value).join(''));
    return words.length === 1
      ? (words[0] ?? '')
      : words.map((each, at) => `<${at + 1}>${each}</${at + 1}>`).join('');
  });
  return {
    segments,
    ending: 'docx',
    write: (targets, { bilingual }) => {
      const changes = new Map<string, { from: number; to: number; text: string }[]>();
      for (const [at, { part, paragraph, spans }] of places.entries()) {
        const own = changes.get(part) ?? [];
        changes.set(part, own);
        const words = shares(targets[at] ?? segments[at] ?? '', spans.length);
        if (bilingual && !paragraph.holds)
          own.push({
            from: paragraph.from,
            to: paragraph.from,
            text: xmlOf.get(part)?.slice(paragraph.from, paragraph.to) ?? '',
          });
        for (const [each, span] of spans.entries())
          for (const [nth, { from, to }] of span.entries())
            own.push({ from, to, text: written(nth === 0 ? (words[each] ?? '') : '') });
      }
      const made: Zippable = {};
      for (const [name, content] of Object.entries(parts)) {
        const own = changes.get(name);
        const xml = xmlOf.get(name);
        if (!own || xml === undefined) {
          made[name] = content;
          continue;
        }
        own.sort((one, other) => one.from - other.from);
        let text = '';
        let upTo = 0;
        for (const change of own) {
          text += xml.slice(upTo, change.from) + change.text;
          upTo = change.to;
        }
        made[name] = new TextEncoder().encode(text + xml.slice(upTo));
      }
      return zipSync(made, { level: 6 });
    },
  };
};

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const wordNames = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

/** A Word file of plain paragraphs. */
export const makeDocx = (paragraphs: readonly string[]): Uint8Array => {
  const body = paragraphs
    .map((text) => `<w:p><w:r>${written(unmarked(text, []))}</w:r></w:p>`)
    .join('');
  const file = (text: string) => new TextEncoder().encode(head + text);
  return zipSync({
    '[Content_Types].xml': file(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    ),
    '_rels/.rels': file(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
    'word/document.xml': file(
      `<w:document ${wordNames}><w:body>${body}<w:sectPr/></w:body></w:document>`,
    ),
  });
};

/** Lines as a page breaks them, put together to paragraphs. */
export const joinedLines = (text: string): string[] => {
  const paragraphs: string[] = [];
  let open = '';
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line === '') {
      if (open !== '') paragraphs.push(open);
      open = '';
      continue;
    }
    const glue = open === '' || /[\p{Script=Han}，、；：]$/u.test(open) ? '' : ' ';
    open = open.endsWith('-') ? open.slice(0, -1) + line : open + glue + line;
    // A line that is much shorter than the others ends a paragraph when it ends a sentence.
    if (/[.。!！?？:：”"]$/.test(line) && line.length < 60) {
      paragraphs.push(open);
      open = '';
    }
  }
  if (open !== '') paragraphs.push(open);
  return paragraphs;
};

/** Text without a form of its own (a PDF, an old Word file): it becomes a Word file. */
export const paragraphDocument = (text: string): Translatable => {
  const segments = joinedLines(text);
  return {
    segments,
    ending: 'docx',
    write: (targets, { bilingual }) =>
      makeDocx(
        segments.flatMap((source, at) => {
          const target = targets[at] ?? source;
          return bilingual ? [source, target] : [target];
        }),
      ),
  };
};
