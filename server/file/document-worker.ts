import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { DocumentKind, DocumentText } from './document.ts';

/** Reads one document and says what is in it, or null; whoever started this ends it. */

interface Task {
  kind: DocumentKind;
  data: Uint8Array;
  /** Characters of text after which reading ends. */
  most: number;
}

const require = createRequire(import.meta.url);

/** Pages beyond these are left out even where the text is still short. */
const mostPages = 2000;

const readPdf = async ({ data, most }: Task): Promise<DocumentText> => {
  const pdfjs = await import('pdfjs-dist/legacy/build/pdf.mjs');
  const root = path.dirname(require.resolve('pdfjs-dist/package.json'));
  const folder = (name: string) => `${pathToFileURL(path.join(root, name)).href}/`;
  const task = pdfjs.getDocument({
    data: new Uint8Array(data),
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    useWorkerFetch: false,
    stopAtErrors: false,
    maxImageSize: 1_000_000,
    cMapUrl: folder('cmaps').replace('file://', ''),
    cMapPacked: true,
    standardFontDataUrl: folder('standard_fonts').replace('file://', ''),
    verbosity: 0,
  });
  const document = await task.promise;
  const pages: string[] = [];
  let length = 0;
  let cut = document.numPages > mostPages;
  for (let at = 1; at <= Math.min(document.numPages, mostPages); at += 1) {
    const page = await document.getPage(at);
    const { items } = await page.getTextContent({ disableNormalization: false });
    let text = '';
    for (const item of items) if ('str' in item) text += item.str + (item.hasEOL ? '\n' : '');
    pages.push(text.trim());
    length += text.length;
    page.cleanup();
    if (length > most) {
      cut ||= at < document.numPages;
      break;
    }
  }
  return { text: pages.filter((text) => text !== '').join('\n\n'), cut };
};

/** Of the parts that hold text: how many there may be, and how large one and all, in bytes. */
const parts = { count: 500, one: 32 * 1024 * 1024, all: 64 * 1024 * 1024 };
const holdsText = /^(\[Content_Types\]\.xml|_rels\/\.rels|word\/(_rels\/)?[\w-]+\.xml(\.rels)?)$/;

const readDocx = async ({ data }: Task): Promise<DocumentText> => {
  const { unzipSync, zipSync } = await import('fflate');
  let count = 0;
  let all = 0;
  // Only the parts with text, each no longer than it says it is, reach the reader behind.
  const found = unzipSync(new Uint8Array(data), {
    filter: ({ name, originalSize }) => {
      if (!holdsText.test(name)) return false;
      count += 1;
      all += originalSize;
      if (count > parts.count || originalSize > parts.one || all > parts.all)
        throw new Error('too large');
      return true;
    },
  });
  if (!found['word/document.xml']) throw new Error('no document');
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth.extractRawText({
    buffer: Buffer.from(zipSync(found, { level: 0 })),
  });
  return { text: value.trim(), cut: false };
};

const task = workerData as Task;
let answer: DocumentText | null = null;
try {
  answer = await (task.kind === 'pdf' ? readPdf(task) : readDocx(task));
} catch {
  // Whatever is wrong with it, it cannot be read.
}
parentPort?.postMessage(answer, []);
