import { type Block, lockedFile, type Reading, Unwanted, upTo } from './block.ts';
import { csvBlocks } from './csv.ts';
import { decodeText } from './decode.ts';
import { docxBlocks } from './docx.ts';
import { epubBlocks } from './epub.ts';
import { htmlBlocks } from './html.ts';
import type { ReadKind } from './kinds.ts';
import { pageBlocks } from './layout.ts';
import { markdownBlocks } from './markdown.ts';
import { refuseLocked } from './parts.ts';
import { pdfPages } from './pdf.ts';
import { pptxBlocks } from './pptx.ts';
import { xlsxBlocks } from './xlsx.ts';

/** What is read of a file, and of which of its pages only the picture tells what stands there. */
export interface FileReading extends Reading {
  pictures: number[];
}

/** The text of a file that is plain. @throws Unwanted where it is none */
export const plainText = (data: Uint8Array): string => {
  const text = decodeText(Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  if (text === null) throw new Unwanted('这个文件不是文本，无法读取');
  return text.replace(/^\uFEFF/, '').replaceAll('\0', '');
};

/** Sectors of an old Word file, of which the document's first begins with this. */
const sector = 512;
const documentMark = 0xa5ec;
const encrypted = 0x0100;

/** @throws Unwanted where it is locked: its letters would be read as they are enciphered */
export const oldWordText = async (data: Uint8Array): Promise<string> => {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  for (let at = sector; at + sector <= data.length; at += sector) {
    if (view.getUint16(at, true) !== documentMark) continue;
    if ((view.getUint16(at + 10, true) & encrypted) !== 0) throw new Unwanted(lockedFile);
    break;
  }
  const { default: WordExtractor } = await import('word-extractor');
  const document = await new WordExtractor().extract(Buffer.from(data));
  return document.getBody().replaceAll('\0', '');
};

const readPdf = async (data: Uint8Array, most: number): Promise<FileReading> => {
  const { pages, pictures, cut } = await pdfPages(data, most);
  const { blocks, cut: longer } = upTo(pageBlocks(pages), most);
  return { blocks, cut: cut || longer, pictures };
};

const blocksOf = async (
  kind: ReadKind,
  data: Uint8Array,
  most: number,
): Promise<Iterable<Block>> => {
  switch (kind) {
    case 'docx':
      return docxBlocks(data);
    case 'xlsx':
      return xlsxBlocks(data, most);
    case 'pptx':
      return pptxBlocks(data);
    case 'epub':
      return epubBlocks(data);
    case 'doc':
      return [{ kind: 'text', text: await oldWordText(data), place: {} }];
    case 'csv':
      return csvBlocks(plainText(data));
    case 'markdown':
      return markdownBlocks(plainText(data));
    case 'html':
      return htmlBlocks(plainText(data));
    default:
      return [{ kind: 'text', text: plainText(data), place: {} }];
  }
};

/**
 * What is in a file, up to so many letters. To be called in a process of its own, which ends what
 * takes too much.
 * @throws Unwanted, and anything else for a file that is broken
 */
export const readFile = async (
  kind: ReadKind,
  data: Uint8Array,
  most: number,
): Promise<FileReading> => {
  if (kind === 'image') return { blocks: [], cut: false, pictures: [1] };
  if (kind === 'pdf') return readPdf(data, most);
  refuseLocked(data);
  const blocks = await blocksOf(kind, data, most);
  if (kind !== 'text' && kind !== 'doc') return { ...upTo(blocks, most), pictures: [] };
  const [whole] = blocks;
  const text = whole?.text ?? '';
  return {
    blocks: [{ kind: 'text', text: text.slice(0, most), place: {} }],
    cut: text.length > most,
    pictures: [],
  };
};
