import { parentPort } from 'node:worker_threads';
import { type Chunk, chunksOf } from '#server/areas/embedding/chunk.ts';
import { type Block, Unwanted } from '#server/reading/block.ts';
import { labelledDocx } from '#server/labels/docx.ts';
import { labelledText } from '#server/labels/text.ts';
import { pageText } from '#server/reading/layout.ts';
import { pdfPages } from '#server/reading/pdf.ts';
import { oldWordText, plainText as textIn, readFile } from '#server/reading/read.ts';
import { usualForms } from '#server/search/forms.ts';
import { paragraphDocument, wordDocument } from '../translation/docx.ts';
import {
  html,
  markdown,
  plainText,
  subtitles,
  type Translatable,
} from '../translation/plain-formats.ts';
import type { FileKind } from './kinds.ts';
import type { ReadAnswer, ReadAnswers, ReadTask } from './read-task.ts';
import { unpack } from './unpack.ts';

/** Reads people's files, one after the other, and says what is in them; whoever started this ends it. */

/** Passages of one file that are learned, and sentences that are translated. */
const mostPieces = 50_000;
const tooManyPieces = '文件太长，请分成几个';
/** Letters of one file that are learned. */
const mostText = 4_000_000;

const unreadable = '文件已损坏、已加密或无法读取';
const noText = '文件里没有文字';

const byPage = (one: Block, other: Block): number =>
  (one.place.page ?? 0) - (other.place.page ?? 0);

/** Passages that are told at once, and their letters: whoever takes them serves everybody. */
const atOnce = { passages: 500, letters: 200_000 };

/** Passages of the file that was read last which were not asked for yet. */
let untold: readonly Chunk[] = [];

const nextPiece = (): ReadAnswers['more'] => {
  let letters = 0;
  const end = untold.findIndex(({ content }, at) => {
    letters += content.length;
    return at > 0 && (at >= atOnce.passages || letters > atOnce.letters);
  });
  const chunks = untold.slice(0, end < 0 ? untold.length : end);
  untold = untold.slice(chunks.length);
  return { chunks, left: untold.length };
};

const passagesOf = async (
  task: Extract<ReadTask, { want: 'passages' }>,
): Promise<ReadAnswers['passages']> => {
  const { kind, data, separator, size, seen } = task;
  if (kind === 'archive') throw new Error('archives are unpacked');
  const { blocks, cut, pictures } = await readFile(kind, data, mostText);
  const all = seen ? [...blocks, ...seen].sort(byPage) : blocks;
  const usual = all.map((block) => ({ ...block, text: usualForms(block.text) }));
  const chunks = chunksOf(usual, { separator, size });
  if (chunks.length > mostPieces) throw new Unwanted(tooManyPieces);
  if (chunks.length === 0 && seen) throw new Unwanted('文件里只有图片，没有认出文字');
  if (chunks.length === 0 && pictures.length === 0) throw new Unwanted(noText);
  untold = chunks;
  return { ...nextPiece(), cut, pictures: seen ? [] : pictures };
};

/** The pieces of a file that can be put back in their places. */
const documentOf = async (kind: FileKind, data: Uint8Array): Promise<Translatable> => {
  switch (kind) {
    case 'pdf': {
      const { pages } = await pdfPages(data, mostText);
      const text = pages.map(pageText).join('\n\n');
      if (text.trim() === '') throw new Unwanted('这个 PDF 里没有文字（可能是扫描的图片）');
      return paragraphDocument(text);
    }
    case 'docx':
      return wordDocument(data);
    case 'doc':
      return paragraphDocument(await oldWordText(data));
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

/** A file's texts as they are learned, to say beforehand what that will cost. */
const textsOf = async (kind: FileKind, data: Uint8Array): Promise<string[]> => {
  if (kind === 'archive') throw new Error('archives are unpacked');
  const { blocks, pictures } = await readFile(kind, data, mostText);
  // What pictures show is free to see, and nobody knows yet how much it is.
  if (blocks.length === 0 && pictures.length > 0) return ['（图片）'];
  // As one: its price is by its letters, and a file of single letters has millions of pieces.
  return [blocks.map(({ text }) => text).join('\n')];
};

const work = async (task: ReadTask): Promise<ReadAnswers[ReadTask['want']]> => {
  switch (task.want) {
    case 'passages':
      return passagesOf(task);
    case 'more':
      if (untold.length === 0) throw new Error('nothing is left to be told');
      return nextPiece();
    case 'files':
      return unpack(task.name, task.data);
    case 'segments': {
      const segments = task.learned
        ? await textsOf(task.kind, task.data)
        : (await documentOf(task.kind, task.data)).segments;
      if (!segments.some((text) => text.trim() !== '')) throw new Unwanted(noText);
      if (!task.learned && segments.length > mostPieces) throw new Unwanted(tooManyPieces);
      return { segments };
    }
    default: {
      const document = await documentOf(task.kind, task.data);
      const { bilingual, label, mark } = task;
      const { ending } = document;
      const data = document.write(task.targets, { bilingual });
      if (ending === 'docx') return { data: labelledDocx(data, label, mark), ending };
      const text = labelledText(Buffer.from(data).toString(), ending, label, mark);
      return { data: Buffer.from(text), ending };
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
