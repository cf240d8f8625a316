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

/** The draft that was to be sent when the view ended before the screen's own box was there; empty: none. */
let asked = '';

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
 * Sends what the screen's own box has got, once it has been drawn with that and may be sent from,
 * unless somebody writes on.
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
    const { selectionStart, selectionEnd } = box;
    takeText();
    handOver();
    toOwnBox();
    const own = document.activeElement;
    if (!(own instanceof HTMLTextAreaElement) || own === box) return;
    own.setSelectionRange(selectionStart, selectionEnd);
    if (view?.dataset['send'] === undefined) return;
    delete view.dataset['send'];
    sendFrom(own);
  });

/**
 * The screen's own box is there: what was written before becomes its draft, and is sent if that was
 * asked for. `focus` puts the writer there who is still at it, or begins to write here later.
 * @param key its draft
 */
export const takeFirstBox = (key: string, focus: () => void): void => {
  const sendsLate = asked === key;
  asked = '';
  if (!box && sendsLate) {
    focus();
    const own = document.activeElement;
    if (own instanceof HTMLTextAreaElement) sendFrom(own);
  }
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

/** A click that has begun ends first, ms: in the midst of it its button would be gone. */
const clickEnd = 100;
const whenReleased = (act: () => void): void => {
  if (view?.dataset['pressed'] === undefined) act();
  else view.addEventListener('released', () => setTimeout(act, clickEnd), { once: true });
};

/** Another screen: what was to be sent here stays in its box. */
export const forgetAsked = (): void => {
  asked = '';
};

/** The screen itself is there, or another one. */
export const endFirstView = (): void => {
  if (!view) return;
  const end = () => {
    if (!view) return;
    takeText();
    if (view.dataset['send'] !== undefined) asked = box?.dataset['draft'] ?? '';
    const { scrollTop } = view;
    handOver();
    view.remove();
    view = null;
    box = null;
    if (scrollTop > 0) window.scrollTo({ top: scrollTop });
  };
  whenReleased(() => whenComposed(end));
};
