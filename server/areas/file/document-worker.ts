import { parentPort, workerData } from 'node:worker_threads';
import { pdfPages } from './pdf-pages.ts';
import type { DocumentKind, DocumentText } from './document.ts';

/** Reads one document and says what is in it, or null; whoever started this ends it. */

interface Task {
  kind: DocumentKind;
  data: Uint8Array;
  /** Characters of text after which reading ends. */
  most: number;
}

const readPdf = async ({ data, most }: Task): Promise<DocumentText> => {
  const { pages, cut } = await pdfPages(data, most);
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
