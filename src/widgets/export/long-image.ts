import { lazyChunk } from '#src/platform/lazy-chunk.ts';
import { pixelsOf } from './diagram-images.ts';
import css from '#src/widgets/markdown/markdown.module.css';

/** CSS px. A phone's canvas holds some 16 million pixels: 390 × 2 by 6000 × 2 is below that. */
export const imageWidth = 390;
const partHeight = 6_000;
const scale = 2;
/** How long images, formulas and diagrams may take to appear, ms. */
const patience = 8_000;

const load = lazyChunk(() => import('modern-screenshot'));

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

const blank = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

/** A image of another site cannot be drawn into a canvas: its words take its place. */
const dropForeign = (page: HTMLElement): number => {
  let dropped = 0;
  for (const image of page.querySelectorAll('img')) {
    image.loading = 'eager';
    const { protocol, origin } = new URL(image.src, location.href);
    if (protocol === 'data:' || protocol === 'blob:' || origin === location.origin) continue;
    dropped += 1;
    const words = document.createElement('span');
    words.className = css.imageWords ?? '';
    words.textContent = image.alt === '' ? '［图片］' : `［图片：${image.alt}］`;
    // The element is React's and stays where it is; a image that never fails never changes.
    image.after(words);
    image.hidden = true;
    image.src = blank;
  }
  return dropped;
};

const isSettled = (page: HTMLElement): boolean =>
  [...page.querySelectorAll('img')].every((image) => image.complete) &&
  page.querySelector(
    '[data-formula]:not([data-drawn]), [data-code][data-plain], [data-drawing]',
  ) === null;

const settle = async (page: HTMLElement, signal: AbortSignal): Promise<void> => {
  const end = performance.now() + patience;
  await document.fonts.ready;
  await pause(120);
  while (!isSettled(page) && performance.now() < end && !signal.aborted) await pause(60);
  await document.fonts.ready;
};

/** Drawings of this page have addresses that only it can read: their pixels take their place. */
const keepDrawings = async (page: HTMLElement): Promise<void> => {
  const drawings = [...page.querySelectorAll<HTMLImageElement>('img[src^="blob:"]')];
  await Promise.all(
    drawings.map(async (image) => {
      const { width, height } = image;
      try {
        image.src = await pixelsOf(image.src, width, height);
        await image.decode();
      } catch {
        // It is left as it is.
      }
    }),
  );
};

const asDataUrl = async (address: string): Promise<string> => {
  const blob = await (await fetch(address)).blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result as string));
    reader.addEventListener('error', () => reject(new Error('no font')));
    reader.readAsDataURL(blob);
  });
};

const fontRules = (): { rule: CSSFontFaceRule; base: string }[] =>
  [...document.styleSheets].flatMap((sheet) =>
    [...sheet.cssRules]
      .filter((rule) => rule instanceof CSSFontFaceRule)
      .map((rule) => ({ rule, base: sheet.href ?? location.href })),
  );

/**
 * The faces of the formulas as style rules that stand alone. (The library would ask for them by a
 * base address, which the content policy forbids.)
 */
const fontsOf = async (page: HTMLElement): Promise<string> => {
  if (page.querySelector('[data-formula][data-drawn]') === null) return '';
  const rules = await Promise.all(
    fontRules().map(async ({ rule, base }) => {
      const family = rule.style.getPropertyValue('font-family');
      const weight = rule.style.getPropertyValue('font-weight');
      const slant = rule.style.getPropertyValue('font-style');
      const [, address] = /url\("?([^")]+\.woff2)"?\)/.exec(rule.cssText) ?? [];
      // What no formula here uses was not loaded either.
      const used = [...document.fonts].some(
        (face) =>
          face.status === 'loaded' &&
          face.family.replaceAll('"', '') === family.replaceAll('"', '') &&
          face.weight === (weight || 'normal') &&
          face.style === (slant || 'normal'),
      );
      if (address === undefined || !used) return '';
      const data = await asDataUrl(new URL(address, base).href).catch(() => null);
      return data === null
        ? ''
        : `@font-face{font-family:${family};font-weight:${weight};font-style:${slant};src:url(${data}) format("woff2")}`;
    }),
  );
  return rules.join('\n');
};

/** Where the pages of a tall drawing end: below a block, where there is one. CSS px from its top. */
const cutsOf = (page: HTMLElement): number[] => {
  const top = page.getBoundingClientRect().top;
  const height = page.scrollHeight;
  if (height <= partHeight) return [height];
  const ends = [...page.querySelectorAll('[data-unit], [data-told], [data-block] > *, li, tr')]
    .map((element) => Math.ceil(element.getBoundingClientRect().bottom - top))
    .sort((one, other) => one - other);
  const cuts: number[] = [];
  let from = 0;
  while (height - from > partHeight) {
    const most = from + partHeight;
    const best = ends.filter((end) => end <= most && end > from + partHeight / 2).at(-1);
    from = best ?? most;
    cuts.push(from);
  }
  return [...cuts, height];
};

export interface LongImage {
  parts: Blob[];
  /** Images of other sites that had to be left out. */
  dropped: number;
}

/**
 * Draws an element of the page, `frame` around `page`, as PNG: one image, or several where it is
 * taller than a canvas may be. `onProgress` hears 0 to 1.
 */
export const drawLongImage = async (
  frame: HTMLElement,
  page: HTMLElement,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<LongImage> => {
  const dropped = dropForeign(page);
  const [{ domToBlob }] = await Promise.all([load(), settle(page, signal)]);
  await keepDrawings(page);
  const fonts = await fontsOf(page);
  const cuts = cutsOf(page);
  const units = [...page.querySelectorAll<HTMLElement>('[data-unit]')];
  const top = page.getBoundingClientRect().top;
  const places = units.map((unit) => {
    const rect = unit.getBoundingClientRect();
    return { unit, top: rect.top - top, bottom: rect.bottom - top };
  });
  const parts: Blob[] = [];
  let from = 0;
  for (const to of cuts) {
    if (signal.aborted) break;
    // What lies outside this part is not copied at all: only its height is made up for.
    let hidden = 0;
    for (const { unit, top: above, bottom } of places) {
      const inside = bottom > from && above < to;
      unit.hidden = !inside;
      if (!inside && bottom <= from) hidden = bottom;
    }
    page.style.marginTop = `${hidden - from}px`;
    frame.style.height = `${to - from}px`;
    const blob = await domToBlob(frame, {
      width: imageWidth,
      height: to - from,
      scale,
      type: 'image/png',
      maximumCanvasSize: 16_384,
      font: fonts === '' ? false : { cssText: fonts },
    });
    if (blob) parts.push(blob);
    onProgress(to / (cuts.at(-1) ?? to));
    from = to;
  }
  return { parts, dropped };
};
