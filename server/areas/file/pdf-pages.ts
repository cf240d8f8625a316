import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

/** Pages beyond these are left out even where the text is still short. */
const mostPages = 2000;

/** The texts of a PDF's pages, up to so many letters in all. To be called in a thread of its own. */
export const pdfPages = async (
  data: Uint8Array,
  most: number,
): Promise<{ pages: string[]; cut: boolean }> => {
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
  return { pages, cut };
};
