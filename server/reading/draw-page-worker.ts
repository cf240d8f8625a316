import { parentPort, workerData } from 'node:worker_threads';
import sharp, { type Sharp } from 'sharp';
import type { DrawnPage, DrawTask } from './draw-page.ts';
import { type PageLine, pageLines } from './layout.ts';
import { pdfPage } from './pdf.ts';
import { openPicture } from './seeing/grey.ts';
import { pagePicture } from './seeing/see.ts';

/** Draws a page of a file that somebody sent; whoever started this ends it. */

/** Pixels of the longer side: letters of a page are read well on a phone that shows it whole. */
const longest = 1500;
const side = { width: longest, height: longest, fit: 'inside', withoutEnlargement: true } as const;
/** A page, and a scanned one with its lines level, as their places are. */
const pageOf = async ({ data, page, looks }: DrawTask): Promise<Sharp> => {
  const image = page === null ? openPicture(data).rotate() : await pagePicture(data, page, longest);
  if (!looks || looks.angle === 0) return image;
  const upright = await image.flatten({ background: '#fff' }).resize(side).png().toBuffer();
  return sharp(upright).rotate(looks.angle, { background: '#fff' });
};

/** What is written on it and where. */
const linesOf = async ({ data, page, looks }: DrawTask): Promise<PageLine[]> => {
  if (looks) return looks.lines;
  if (page === null) return [];
  const { pieces, ...size } = await pdfPage(data, page);
  return pageLines(pieces, size);
};

const draw = async (task: DrawTask): Promise<DrawnPage> => {
  const image = await pageOf(task);
  const made = await image
    .flatten({ background: '#fff' })
    .resize(side)
    .webp({ quality: 72 })
    .toBuffer({ resolveWithObject: true });
  return {
    picture: new Uint8Array(made.data),
    width: made.info.width,
    height: made.info.height,
    lines: await linesOf(task),
  };
};

parentPort?.postMessage(await draw(workerData as DrawTask).catch(() => null), []);
