import { parentPort, workerData } from 'node:worker_threads';
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import { Unwanted } from '#server/reading/block.ts';
import { decodeText } from '#server/reading/decode.ts';
import { readKindOf } from '#server/reading/kinds.ts';
import { readFile } from '#server/reading/read.ts';
import { textOf } from '#server/reading/text-of.ts';
import type { PageAnswer, PageTask } from './read-page.ts';

/** Reads the text of one page or file of the web; whoever started this ends it. */

const lines = (text: string): string =>
  text
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ ?\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll('\0', '')
    .trim();

/** The article of a page without what stands around it; null: it is no article. */
const article = (data: Uint8Array): { title: string; text: string } | null => {
  const html = decodeText(Buffer.from(data));
  if (html === null) return null;
  // Tags that HTML lets be left out are not put in by this parser.
  const whole = /<body[\s>]/i.test(html) ? html : `<html><head></head><body>${html}</body></html>`;
  const { document } = parseHTML(whole);
  const title = (document.querySelector('title')?.textContent ?? '').trim().slice(0, 200);
  const read = new Readability(document as never, {
    maxElemsToParse: 50_000,
  }).parse();
  const content = read?.content ?? '';
  if (content === '') return null;
  // Paragraphs stay apart: the plain text of an article runs them together.
  const apart = content.replaceAll(
    /<\/(?:p|div|li|tr|h[1-6]|pre|blockquote|section)>|<br\s*\/?>/gi,
    '$&\n',
  );
  const { document: told } = parseHTML(`<html><body>${apart}</body></html>`);
  return { title: title || (read?.title ?? ''), text: lines(told.body.textContent ?? '') };
};

const read = async ({ data, ending, most }: PageTask): Promise<PageAnswer> => {
  try {
    if (ending === 'html') {
      const found = article(data);
      if (found && found.text.length > 0)
        return { ...found, text: found.text.slice(0, most), cut: found.text.length > most };
    }
    const kind = readKindOf(`page.${ending}`, data);
    if (!kind) return { refused: '这个网址给的文件和它说的种类不一样' };
    const { blocks, cut } = await readFile(kind, data, most);
    const title = blocks.find((block) => block.kind === 'heading')?.text.slice(0, 200) ?? '';
    return { title, text: textOf(blocks), cut };
  } catch (error) {
    return { refused: error instanceof Unwanted ? error.message : '这个网页无法读取' };
  }
};

parentPort?.postMessage(await read(workerData as PageTask), []);
