import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { zipSync } from 'fflate';
import PdfDocument from 'pdfkit';
import sharp from 'sharp';
import { loadOptional } from '#server/optional-packages.ts';

/** Files as people have them, made here so that the tests need none. */

const require = createRequire(import.meta.url);

/** A photo as a phone writes it: lying on its side, with the place where it was taken. */
export const photoWithPlace = (width = 60, height = 40): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: '#2563eb' } })
    .withMetadata({ orientation: 6 })
    .withExif({
      IFD0: { Make: 'SECRET-CAMERA', ImageDescription: 'SECRET-WORDS' },
      IFD3: { GPSLatitude: '39/1 54/1 20/1', GPSLatitudeRef: 'N', GPSLongitude: '116/1 23/1 29/1' },
    })
    .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/">SECRET-PLACE</x:xmpmeta>')
    .jpeg()
    .toBuffer();

/** Noise that no encoder makes small. */
export const noise = async (width: number, height: number, type: 'jpeg' | 'png' = 'jpeg') => {
  let state = 20_261_121;
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < data.length; at += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    data[at] = state >>> 24;
  }
  return sharp(data, { raw: { width, height, channels: 3 } })
    .toFormat(type, type === 'jpeg' ? { quality: 95 } : {})
    .toBuffer();
};

/** Half of it can be seen through. */
export const glassPng = (): Promise<Buffer> =>
  sharp({
    create: { width: 20, height: 10, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
  })
    .png()
    .toBuffer();

const contentTypes = `<?xml version="1.0" encoding="UTF-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`;
const relations = `<?xml version="1.0" encoding="UTF-8"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`;

/** What a Word document is a zip of. */
export const docxFiles = (
  document: string,
  more: Record<string, Uint8Array> = {},
): Record<string, Uint8Array> => ({
  '[Content_Types].xml': Buffer.from(contentTypes),
  '_rels/.rels': Buffer.from(relations),
  'word/document.xml': Buffer.from(document),
  ...more,
});

/** A Word document with `document` as its word/document.xml, and more parts. */
export const docxOf = (document: string, more: Record<string, Uint8Array> = {}): Buffer =>
  Buffer.from(zipSync(docxFiles(document, more)));

export const wordXml = (paragraphs: readonly string[], before = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?>${before}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${paragraphs
    .map((text) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`)
    .join('')}</w:body></w:document>`;

/** A PDF with one page a text. */
export const pdfOf = async (
  pages: readonly string[],
  options: PDFKit.PDFDocumentOptions = {},
): Promise<Buffer> => {
  const document = new PdfDocument({ autoFirstPage: false, ...options });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const fonts = path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '..', 'fonts');
  document.font(path.join(fonts, 'NotoSansHans-Regular.otf'));
  for (const text of pages) document.addPage().text(text);
  document.end();
  await once(document, 'end');
  return Buffer.concat(chunks);
};

/** A page as a scanner gives it: a little askew. */
export const scanOf = async (text: string): Promise<Buffer> => {
  const { PDFiumLibrary } = await loadOptional('@hyzyla/pdfium');
  const document = await (await PDFiumLibrary.init()).loadDocument(await pdfOf([text]));
  const { width, height, data } = await document
    .getPage(0)
    .render({ scale: 150 / 72, render: 'bitmap' });
  const page = sharp(Buffer.from(data), { raw: { width, height, channels: 4 } });
  return page
    .flatten({ background: '#fff' })
    .extract({ left: 0, top: 0, width, height: 500 })
    .rotate(1.5, { background: '#fff' })
    .jpeg({ quality: 60 })
    .toBuffer();
};

/** An archive of the format that the ending names, packed by 7-Zip. */
export const packedAs = async (
  ending: '7z' | 'xz',
  files: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): Promise<Buffer> => {
  const create = await loadOptional('7z-wasm');
  const program = await create({ print: () => {}, quit: () => {} });
  const { FS } = program;
  for (const [name, text] of Object.entries(files)) FS.writeFile(`/${name}`, text);
  program.callMain([
    'a',
    `-t${ending}`,
    ...more,
    `/made.${ending}`,
    ...Object.keys(files).map((name) => `/${name}`),
  ]);
  return Buffer.from(FS.readFile(`/made.${ending}`, { encoding: 'binary' }));
};

const variable = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...variable(value >>> 7)];

/** A RAR 5 archive whose files are stored as they are. */
export const rarOf = (files: Readonly<Record<string, string>>): Buffer => {
  const word = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value >>> 0);
    return bytes;
  };
  const block = (fields: readonly number[], data = Buffer.alloc(0)) => {
    const sized = Buffer.from([...variable(fields.length), ...fields]);
    return Buffer.concat([word(crc32(sized)), sized, data]);
  };
  const blocks = Object.entries(files).map(([name, text]) => {
    const data = Buffer.from(text);
    const size = variable(data.length);
    const label = Buffer.from(name);
    return block(
      // A file (2) with data behind it (2): sizes, CRC, stored, made on Unix.
      [
        2,
        2,
        ...size,
        4,
        ...size,
        0,
        ...word(crc32(data)),
        0,
        1,
        ...variable(label.length),
        ...label,
      ],
      data,
    );
  });
  const mark = Buffer.from('526172211a070100', 'hex');
  return Buffer.concat([mark, block([1, 0, 0]), ...blocks, block([5, 0, 0])]);
};

/** A Word 97 file: a compound file with the text in one piece; a locked one says that it is. */
export const docOf = (text: string, { locked = false } = {}): Buffer => {
  const sector = 512;
  const streamSectors = 8;
  const main = Buffer.alloc(streamSectors * sector);
  const table = Buffer.alloc(streamSectors * sector);
  const textAt = 1024;
  main.writeUInt16LE(0xa5ec, 0);
  main.writeUInt16LE(0x00c1, 2);
  main.writeUInt16LE(locked ? 0x1300 : 0x1200, 0x0a);
  main.writeUInt32LE(textAt, 0x18);
  main.writeUInt32LE(text.length, 0x4c);
  main.writeUInt32LE(0, 0x1a2);
  main.writeUInt32LE(21, 0x1a6);
  main.write(text, textAt, 'utf16le');
  table.writeUInt8(2, 0);
  table.writeUInt32LE(16, 1);
  table.writeUInt32LE(text.length, 9);
  table.writeUInt32LE(textAt, 15);

  const head = Buffer.alloc(sector);
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(head);
  for (const [value, at] of [
    [0x3e, 24],
    [3, 26],
    [0xfffe, 28],
    [9, 30],
    [6, 32],
  ] as const)
    head.writeUInt16LE(value, at);
  for (const [value, at] of [
    [1, 44],
    [1, 48],
    [4096, 56],
    [-2, 60],
    [-2, 68],
  ] as const)
    head.writeInt32LE(value, at);
  head.fill(0xff, 76);
  head.writeInt32LE(0, 76);

  const chains = Buffer.alloc(sector, 0xff);
  chains.writeInt32LE(-3, 0);
  chains.writeInt32LE(-2, 4);
  for (let at = 2; at < 2 + streamSectors * 2; at += 1)
    chains.writeInt32LE((at - 1) % streamSectors === 0 ? -2 : at + 1, at * 4);

  const folder = Buffer.alloc(sector);
  const entries = [
    { name: 'Root Entry', type: 5, child: 1, next: -1, start: -2, size: 0 },
    { name: 'WordDocument', type: 2, child: -1, next: 2, start: 2, size: main.length },
    { name: '1Table', type: 2, child: -1, next: -1, start: 10, size: table.length },
  ];
  for (const [nth, { name, type, child, next, start, size }] of entries.entries()) {
    const at = nth * 128;
    folder.write(name, at, 'utf16le');
    folder.writeUInt16LE((name.length + 1) * 2, at + 64);
    folder.writeUInt8(type, at + 66);
    folder.writeUInt8(1, at + 67);
    folder.writeInt32LE(next, at + 68);
    folder.writeInt32LE(-1, at + 72);
    folder.writeInt32LE(child, at + 76);
    folder.writeInt32LE(start, at + 116);
    folder.writeUInt32LE(size, at + 120);
  }
  return Buffer.concat([head, chains, folder, main, table]);
};

const column = (at: number): string => String.fromCodePoint(65 + at);

/** A workbook with one sheet: numbers as numbers, all else as text. */
export const xlsxOf = (
  name: string,
  rows: readonly (readonly (string | number)[])[],
  more: { merges?: readonly string[]; sheetXml?: string } = {},
): Buffer => {
  const cell = (value: string | number, at: string) =>
    typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
  const data = rows
    .map(
      (cells, row) =>
        `<row r="${row + 1}">${cells
          .map((value, at) => (value === '' ? '' : cell(value, `${column(at)}${row + 1}`)))
          .join('')}</row>`,
    )
    .join('');
  const merges = (more.merges ?? []).map((ref) => `<mergeCell ref="${ref}"/>`).join('');
  const sheet =
    more.sheetXml ??
    `<worksheet><sheetData>${data}</sheetData><mergeCells>${merges}</mergeCells></worksheet>`;
  return Buffer.from(
    zipSync({
      'xl/workbook.xml': Buffer.from(
        `<workbook xmlns:r="r"><sheets><sheet name="${name}" sheetId="1" r:id="a"/></sheets></workbook>`,
      ),
      'xl/_rels/workbook.xml.rels': Buffer.from(
        '<Relationships><Relationship Id="a" Type="t/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
      ),
      'xl/worksheets/sheet1.xml': Buffer.from(sheet),
    }),
  );
};

/** A presentation: of each slide its title, its text and what its speaker notes. */
export const pptxOf = (
  slides: readonly { title: string; text: string; note?: string }[],
): Buffer => {
  const shape = (type: string, text: string) =>
    `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${type}"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:txBody></p:sp>`;
  const parts: Record<string, Uint8Array> = {};
  const link = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="t/${type}" Target="${target}"/>`;
  const links = slides.map((_, at) => link(`s${at}`, 'slide', `slides/slide${at + 1}.xml`));
  const list = slides.map((_, at) => `<p:sldId id="${at}" r:id="s${at}"/>`).join('');
  parts['ppt/presentation.xml'] = Buffer.from(`<p:presentation>${list}</p:presentation>`);
  parts['ppt/_rels/presentation.xml.rels'] = Buffer.from(
    `<Relationships>${links.join('')}</Relationships>`,
  );
  for (const [at, { title, text, note }] of slides.entries()) {
    const name = `slide${at + 1}.xml`;
    parts[`ppt/slides/${name}`] = Buffer.from(
      `<p:sld>${shape('title', title)}${shape('body', text)}</p:sld>`,
    );
    if (note === undefined) continue;
    parts[`ppt/slides/_rels/${name}.rels`] = Buffer.from(
      `<Relationships>${link('n', 'notesSlide', `../notesSlides/${name}`)}</Relationships>`,
    );
    parts[`ppt/notesSlides/${name}`] = Buffer.from(
      `<p:notes>${shape('sldNum', '1')}${shape('body', note)}</p:notes>`,
    );
  }
  return Buffer.from(zipSync(parts));
};

/** An e-book of chapters, each a page of HTML. */
export const epubOf = (chapters: readonly string[]): Buffer => {
  const items = chapters.map((_, at) => `<item id="c${at}" href="t/${at}.xhtml"/>`).join('');
  const order = chapters.map((_, at) => `<itemref idref="c${at}"/>`).join('');
  const parts: Record<string, Uint8Array> = {
    'META-INF/container.xml': Buffer.from(
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    ),
    'OEBPS/book.opf': Buffer.from(
      `<package><manifest>${items}</manifest><spine>${order}</spine></package>`,
    ),
  };
  for (const [at, html] of chapters.entries()) parts[`OEBPS/t/${at}.xhtml`] = Buffer.from(html);
  return Buffer.from(zipSync(parts));
};

/** A table of a Word document. */
export const wordTable = (rows: readonly (readonly string[])[]): string =>
  `<w:tbl>${rows
    .map(
      (cells) =>
        `<w:tr>${cells
          .map((text) => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`)
          .join('')}</w:tr>`,
    )
    .join('')}</w:tbl>`;

/** A Word document whose body is `body`. */
export const wordBody = (body: string): Buffer =>
  docxOf(wordXml([]).replace('</w:body>', `${body}</w:body>`));

/** A PDF with a table, drawn row by row. */
export const pdfTableOf = async (rows: readonly (readonly string[])[]): Promise<Buffer> => {
  const document = new PdfDocument({ autoFirstPage: false, size: 'A4', margin: 50 });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const fonts = path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '..', 'fonts');
  document.font(path.join(fonts, 'NotoSansHans-Regular.otf')).fontSize(11);
  const wide = 495 / (rows[0]?.length ?? 1);
  for (const [at, cells] of rows.entries()) {
    const line = at % 30;
    if (line === 0) document.addPage();
    for (const [nth, text] of cells.entries())
      document.text(text, 50 + nth * wide, 60 + line * 24, { lineBreak: false });
  }
  document.end();
  await once(document, 'end');
  return Buffer.concat(chunks);
};

const oggCrc = (page: Buffer): number => {
  let sum = 0;
  for (const byte of page) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1)
      sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
};

/** One stream of Ogg with silent Opus of so many seconds, as a recorder writes it. */
export const oggOf = (seconds: number, serial: number): Buffer => {
  const page = (at: number, kind: number, granule: number, packets: readonly Buffer[]): Buffer => {
    const head = Buffer.alloc(27 + packets.length);
    head.write('OggS', 0, 'latin1');
    head[5] = kind;
    head.writeBigInt64LE(BigInt(granule), 6);
    head.writeUInt32LE(serial, 14);
    head.writeUInt32LE(at, 18);
    head[26] = packets.length;
    for (const [place, { length }] of packets.entries()) head[27 + place] = length;
    const whole = Buffer.concat([head, ...packets]);
    whole.writeUInt32LE(oggCrc(whole), 22);
    return whole;
  };
  const opusHead = Buffer.from('OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0', 'latin1');
  const tags = Buffer.from('OpusTags\x01\0\0\0x\0\0\0\0', 'latin1');
  // Frames of 20 ms, 50 in a page.
  const packets = Array.from({ length: 50 }, () => Buffer.from([0xf8, 0xff, 0xfe]));
  const pages = Array.from({ length: seconds }, (_, at) =>
    page(at + 2, at === seconds - 1 ? 4 : 0, (at + 1) * 48_000, packets),
  );
  return Buffer.concat([page(0, 2, 0, [opusHead]), page(1, 0, 0, [tags]), ...pages]);
};
