import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import { zipSync } from 'fflate';
import PdfDocument from 'pdfkit';
import sharp from 'sharp';

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
export const pdfOf = async (pages: readonly string[]): Promise<Buffer> => {
  const document = new PdfDocument({ autoFirstPage: false });
  const chunks: Buffer[] = [];
  document.on('data', (chunk: Buffer) => chunks.push(chunk));
  const fonts = path.join(path.dirname(require.resolve('@embedpdf/fonts-sc')), '..', 'fonts');
  document.font(path.join(fonts, 'NotoSansHans-Regular.otf'));
  for (const text of pages) document.addPage().text(text);
  document.end();
  await once(document, 'end');
  return Buffer.concat(chunks);
};
