import Papa from 'papaparse';
import { madeByAi } from '#contract/made-by-ai.ts';
import { inTransaction } from '#server/db/in-transaction.ts';
import { Refusal } from '#server/http/handlers.ts';
import { type Aigc } from '#server/labels/aigc.ts';
import { labelledDocx } from '#server/labels/docx.ts';
import { labelledText } from '#server/labels/text.ts';
import { standing, type Standing } from '../compliance/foot.ts';
import { makeLabel } from '../compliance/labels.service.ts';
import type { Signing } from '../compliance/signing.service.ts';
import type { FileService } from '../file/file.service.ts';
import { cleanName } from '../file/uploads.ts';
import { type Tool, ToolFailure, textOf } from '../tool/tool.ts';
import { contentOf, plainOf, type Part } from './office/content.ts';
import { docxFile } from './office/docx-file.ts';
import { pptxFile } from './office/pptx-file.ts';
import { type SheetOfCells, xlsxFile } from './office/xlsx-file.ts';
import type { Waiter } from '#server/fair-queue.ts';
import { makePdfApart } from './pdf.ts';

const formats = ['docx', 'xlsx', 'csv', 'pdf', 'pptx', 'md', 'txt'] as const;
type Format = (typeof formats)[number];

/** Bytes of one file. */
const mostBytes = 8 * 1024 * 1024;

/** A spreadsheet that reads words as a formula would run them. */
const formula = /^[=+\-@\t\r]/;

/** The tables of a text, each named by the heading above it; without any, the text is read as CSV. */
const sheetsOf = (parts: readonly Part[], content: string, name: string): SheetOfCells[] => {
  const sheets: SheetOfCells[] = [];
  let heading = name;
  for (const part of parts) {
    if (part.kind === 'heading') heading = plainOf(part.runs);
    if (part.kind === 'table')
      sheets.push({ name: heading, rows: part.rows.map((row) => row.map(plainOf)) });
  }
  if (sheets.length > 0) return sheets;
  const { data } = Papa.parse<string[]>(content.trim(), { skipEmptyLines: true });
  if (data.every((row) => row.length < 2))
    throw new ToolFailure('content 里没有表格：请写一个 Markdown 表格，或逗号分隔的行');
  return [{ name, rows: data }];
};

const csvOf = ([first, ...more]: readonly SheetOfCells[]): string => {
  if (more.length > 0) throw new ToolFailure('一个 csv 只放得下一张表，多张表请做成 xlsx');
  // Excel knows by the mark in front that it is UTF-8.
  return `\uFEFF${Papa.unparse(first?.rows.map((row) => [...row]) ?? [], { escapeFormulae: formula })}\r\n`;
};

const written = async (
  format: Format,
  { name, content }: { name: string; content: string },
  {
    who,
    label,
    stands,
    signal,
  }: { who: Waiter; label: Aigc; stands: Standing; signal: AbortSignal },
): Promise<Buffer> => {
  const parts = contentOf(content);
  const { mark } = stands;
  switch (format) {
    case 'docx':
      return Buffer.from(labelledDocx(docxFile(parts, mark), label));
    case 'xlsx':
      return Buffer.from(labelledDocx(xlsxFile(sheetsOf(parts, content, name), mark), label));
    case 'pptx':
      return Buffer.from(labelledDocx(pptxFile(parts, name, mark), label));
    case 'csv':
      return Buffer.from(csvOf(sheetsOf(parts, content, name)));
    case 'pdf': {
      const text = { name: '', text: content, images: [] };
      const message = { speaker: '', time: '', title: '', text: '', images: [], files: [] };
      const pages = [[{ ...message, answers: [text] }]];
      const { data } = await makePdfApart({
        who,
        head: { title: name, about: '', base: '', count: 1, diagrams: [], label, mark, foot: '' },
        messages: (async function* () {
          yield* pages;
        })(),
        // What a model names is fetched from nowhere.
        image: () => Promise.resolve(null),
        onProgress: () => {},
        signal,
      });
      return data;
    }
    default:
      return Buffer.from(labelledText(content, format, label, mark));
  }
};

/** Writes what a model says into a file that its person downloads. */
export const createMakeFile = ({
  files,
  signing,
}: {
  files: Pick<FileService, 'keepToolFile'>;
  signing: Pick<Signing, 'sign'>;
}): Tool => ({
  label: '做文件',
  seconds: 60,
  perReply: 6,
  spec: {
    name: 'make_file',
    description:
      '做文件给用户下载。content 是 Markdown：pptx 每个标题一页，xlsx、csv 取表格（或直接写 CSV）',
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        format: { type: 'string', enum: formats },
        content: { type: 'string' },
      },
      required: ['name', 'format', 'content'],
    },
  },
  run: async (given, { db, user, key, signal }) => {
    const format = formats.find((each) => each === given['format']);
    if (!format) throw new ToolFailure(`format 应是 ${formats.join('、')} 之一`);
    const title = cleanName(textOf(given, 'name', 120)).replace(
      new RegExp(`\\.${format}$`, 'i'),
      '',
    );
    const content = textOf(given, 'content', 20_000);
    try {
      const stands = await standing(db, true);
      const label = await makeLabel(db, {
        kind: 'export',
        userId: user.id,
        model: 'make_file',
        key,
      });
      const plain = await written(
        format,
        { name: title, content },
        { who: user, label, stands, signal },
      );
      const data = format === 'pdf' ? await signing.sign(plain, 'application/pdf') : plain;
      if (data.length > mostBytes) throw new ToolFailure('文件太大，请少写一些');
      // A table of words has no other place for it.
      const told = format === 'csv' && stands.mark !== '' ? `（${madeByAi}）` : '';
      const name = `${title}${told}.${format}`;
      signal.throwIfAborted();
      const url = await inTransaction(db, (tx) => files.keepToolFile(tx, { name, data }, user));
      const size = data.length;
      return { text: `做好了《${name}》，用户可以在卡片上下载。`, files: [{ name, url, size }] };
    } catch (error) {
      if (error instanceof Refusal) throw new ToolFailure(error.message);
      throw error;
    }
  },
});
