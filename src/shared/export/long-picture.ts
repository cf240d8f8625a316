import { lazyChunk } from '../markdown/lazy-chunk.ts';

/** CSS px. A phone's canvas holds some 16 million pixels: 390 × 2 by 6000 × 2 is below that. */
export const pictureWidth = 390;
const partHeight = 6_000;
const scale = 2;
/** How long pictures, formulas and diagrams may take to appear, ms. */
const patience = 8_000;

const load = lazyChunk(() => import('modern-screenshot'));

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** A picture of another site cannot be drawn into a canvas: its words take its place. */
const dropForeign = (page: HTMLElement): number => {
  let dropped = 0;
  for (const image of page.querySelectorAll('img')) {
    image.loading = 'eager';
    const { protocol, origin } = new URL(image.src, location.href);
    if (protocol === 'data:' || protocol === 'blob:' || origin === location.origin) continue;
    dropped += 1;
    const words = document.createElement('span');
    words.className = 'picture-words';
    words.textContent = image.alt === '' ? '［图片］' : `［图片：${image.alt}］`;
    image.replaceWith(words);
  }
  return dropped;
};

const isSettled = (page: HTMLElement): boolean =>
  [...page.querySelectorAll('img')].every((image) => image.complete) &&
  page.querySelector('.formula:not([data-drawn])') === null;

const settle = async (page: HTMLElement, signal: AbortSignal): Promise<void> => {
  const end = performance.now() + patience;
  await document.fonts.ready;
  await pause(120);
  while (!isSettled(page) && performance.now() < end && !signal.aborted) await pause(60);
  await document.fonts.ready;
};

/** Where the pages of a tall drawing end: below a block, where there is one. CSS px from its top. */
const cutsOf = (page: HTMLElement): number[] => {
  const top = page.getBoundingClientRect().top;
  const height = page.scrollHeight;
  if (height <= partHeight) return [height];
  const ends = [...page.querySelectorAll('[data-unit], .told, .text-block > *, li, tr')]
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

export interface LongPicture {
  parts: Blob[];
  /** Pictures of other sites that had to be left out. */
  dropped: number;
}

/**
 * Draws an element of the page, `frame` around `page`, as PNG: one picture, or several where it is
 * taller than a canvas may be. `onProgress` hears 0 to 1.
 */
export const drawLongPicture = async (
  frame: HTMLElement,
  page: HTMLElement,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<LongPicture> => {
  const dropped = dropForeign(page);
  const [{ domToBlob }] = await Promise.all([load(), settle(page, signal)]);
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
      width: pictureWidth,
      height: to - from,
      scale,
      type: 'image/png',
      maximumCanvasSize: 16_384,
    });
    if (blob) parts.push(blob);
    onProgress(to / (cuts.at(-1) ?? to));
    from = to;
  }
  return { parts, dropped };
};
