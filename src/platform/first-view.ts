import { takeDraft } from './draft.ts';

/**
 * What stands on the page before the app does (index.html, src/app/boot.ts): the box of the screen,
 * in which people write already, or a snapshot of the screen as it was here last.
 */
let view = globalThis.document?.querySelector<HTMLElement>('#first') ?? null;
let box = view?.querySelector<HTMLTextAreaElement>('textarea[data-draft]') ?? null;
let focused = box !== null && box === document.activeElement;
/** Puts the writer into the screen's own box, once that is there. */
let toOwnBox: (() => void) | null = null;

box?.addEventListener('focus', () => {
  focused = true;
  goOn();
});
box?.addEventListener('input', () => goOn());
view?.addEventListener('send', () => goOn());
box?.addEventListener('blur', ({ target }) => {
  // Being taken out of the page is not being left.
  setTimeout(() => {
    if (target instanceof Node && target.isConnected) focused = false;
  });
});

/** Nobody is interrupted in the middle of a word that an input method is composing (boot.ts notes it). */
const whenComposed = (act: () => void): void => {
  if (view?.dataset['composing'] === undefined) act();
  else view.addEventListener('compositionend', () => setTimeout(act), { once: true });
};

const takeText = (): void => {
  const key = box?.dataset['draft'];
  if (!box || key === undefined || box.dataset['written'] === undefined) return;
  delete box.dataset['written'];
  takeDraft(key, box.value);
};

/** From here on the app is the page, also for those who hear it. */
const handOver = (): void => {
  view?.setAttribute('aria-hidden', 'true');
  document.querySelector('#root')?.removeAttribute('aria-hidden');
};

/** How often it is looked whether the box may be sent, ms. */
const lookEvery = 200;

/**
 * Sends what the screen's own box has got, once it has been drawn with that: after the reply that is
 * being written there, unless somebody writes on.
 */
const sendFrom = (own: HTMLTextAreaElement): void => {
  const sendOnceFree = (text: string): void => {
    if (!own.isConnected || own.value !== text) return;
    if (own.form?.querySelector('[type=submit][data-sender]:enabled')) own.form.requestSubmit();
    else setTimeout(sendOnceFree, lookEvery, text);
  };
  requestAnimationFrame(() => setTimeout(() => sendOnceFree(own.value)));
};

/** Whoever writes here goes on in the screen's own box. */
const goOn = (): void =>
  whenComposed(() => {
    if (!box || !toOwnBox) return;
    const sends = view?.dataset['send'] !== undefined;
    delete view?.dataset['send'];
    const { selectionStart, selectionEnd } = box;
    takeText();
    handOver();
    toOwnBox();
    const own = document.activeElement;
    if (!(own instanceof HTMLTextAreaElement) || own === box) return;
    own.setSelectionRange(selectionStart, selectionEnd);
    if (sends) sendFrom(own);
  });

/**
 * The screen's own box is there: what was written before becomes its draft, and is sent if that was
 * asked for. `focus` puts the writer there who is still at it, or begins to write here later.
 */
export const takeFirstBox = (focus: () => void): void => {
  if (!box) return;
  toOwnBox = focus;
  if (focused || view?.dataset['send'] !== undefined) goOn();
  else takeText();
};

/** Goes where a link of the snapshot leads that is tapped, or was tapped before the app was there. */
export const followFirstView = (go: (href: string) => void): void => {
  const follow = () => {
    const href = view?.dataset['next'];
    if (href !== undefined) go(href);
  };
  view?.addEventListener('next', follow);
  follow();
};

/** A snapshot of the screen stands there: its end can wait until the screen itself looks the same. */
export const hasSnapshot = (): boolean => view?.dataset['snapshot'] !== undefined;

/** The screen itself is there, or another one. */
export const endFirstView = (): void => {
  if (!view) return;
  whenComposed(() => {
    if (!view) return;
    takeText();
    const { scrollTop } = view;
    handOver();
    view.remove();
    view = null;
    box = null;
    if (scrollTop > 0) window.scrollTo({ top: scrollTop });
  });
};
