import { withoutMarks } from '#common/markdown/plain.ts';

/** A longer text is said in part: who wants the rest reads it where it stands. */
const most = 600;

let region: HTMLElement | undefined;

/**
 * Has a screen reader say, once, what has come to its end: an answer whose words appeared one by one is
 * silent until then. Nothing is seen.
 */
export const sayOnce = (head: string, text = ''): void => {
  if (!region) {
    region = document.createElement('div');
    region.className = 'sr-only';
    region.setAttribute('role', 'status');
    document.body.append(region);
  }
  const spoken = region;
  spoken.textContent = '';
  const plain = withoutMarks(text).replace(/\s+/g, ' ').trim();
  const cut = plain.length > most ? `${plain.slice(0, most)}……` : plain;
  // What is put into a region is said if the region was there before.
  setTimeout(() => {
    spoken.textContent = cut === '' ? head : `${head}：${cut}`;
  }, 50);
};
