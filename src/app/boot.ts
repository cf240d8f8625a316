import {
  putEarlyDrafts,
  readKeptActs,
  readKeptDrafts,
  type KeptDraft,
} from '#src/platform/draft-early.ts';
import { readEcho, writeEcho } from '#src/platform/draft-echo.ts';
import { askEarly } from '#src/platform/early.ts';
import { readSnapshot } from '#src/platform/snapshot.ts';
import { keepInstallOffers } from '#src/platform/install-offer.ts';
import { readPrefs, showPrefs } from '#src/platform/prefs-record.ts';
import { settingsOf } from '#src/platform/saved-settings.ts';
import { isSendKey } from '#src/platform/send-key.ts';
import { stamp } from '#src/platform/stamp.ts';
import { readStored, tokenKey, userKey } from '#src/platform/stored.ts';
import { wideEnoughForMenu } from '#src/platform/wide-enough.ts';

/**
 * Runs before anything else, as a script in the first HTML: the looks of this browser, what is seen
 * and written in before the app (src/platform/first-view.ts ends it), and then the app.
 */

/** vite.config.ts puts the app's chunk and those of home, chat and the side menu here. */
declare const pageFiles: Record<string, string[]> & { app?: string };

/** As long as the app waits for something to be seen, ms. */
const longestWait = 1_000;
/** As long as the box is out of sight until its draft is read, ms. */
const longestRead = 250;
/** How long after a key the text is written into the database, ms. */
const keepAfter = 100;
/** px. */
const highestBox = 168;

// The first thing of all: they are to stand in the box when that is seen.
const keptDrafts = readKeptDrafts();
window.queqiaoDrafts = keptDrafts;
window.queqiaoActs = readKeptActs();
showPrefs(readPrefs());
keepInstallOffers();

const token = readStored(tokenKey);
const { pathname, search } = location;
const asked = new URLSearchParams(search).get('uuid') ?? '';
const session = pathname === '/chat' && /^[\w-]{36}$/.test(asked) ? asked : null;
// Who has no account yet is a reader of a chat, and has no box there.
const place = pathname === '/' ? 'home' : session !== null && token ? 'chat' : '';
document.documentElement.dataset['first'] = place;

const linkTo = (rel: string, href: string): void => {
  const link = document.createElement('link');
  link.rel = rel;
  link.href = href;
  document.head.append(link);
};

/** The screen as this device showed it last; without one the empty boxes stand. */
const showSnapshot = (first: HTMLElement): void => {
  const snapshot = readSnapshot(location, token);
  if (!snapshot) return;
  for (const href of snapshot.styles)
    if (!document.querySelector(`link[href="${href}"]`)) linkTo('stylesheet', href);
  first.innerHTML = snapshot.html;
  first.dataset['snapshot'] = '';
};

const enterMakesLine = (): boolean => {
  try {
    const user = JSON.parse(readStored(userKey)) as { setting?: string } | null;
    return settingsOf(user).disable_enter === 1;
  } catch {
    return false;
  }
};

/** Lets people write in the box, and ask for what they wrote to be sent once the app is there. */
const openBox = (
  first: HTMLElement,
  box: HTMLTextAreaElement,
  button: HTMLButtonElement | null,
  draft: string,
): void => {
  const isEmpty = () => box.value.trim() === '';
  const send = (on: boolean) => {
    if (on && isEmpty()) return;
    if (on) {
      first.dataset['send'] = '';
      first.dispatchEvent(new Event('send'));
    } else delete first.dataset['send'];
    if (!button) return;
    button.disabled = isEmpty();
    button.ariaBusy = on ? 'true' : null;
  };
  const grow = () => {
    box.style.height = 'auto';
    if (box.value) box.style.height = `${Math.min(highestBox, box.scrollHeight)}px`;
  };
  box.dataset['draft'] = draft;
  const quick = readEcho(draft);
  box.value = quick?.text ?? '';
  // Out of sight it can be written in all the same.
  box.style.opacity = '0';
  const show = () => {
    box.style.opacity = '';
  };
  setTimeout(show, longestRead);
  // `written` ends when the app takes the text: what is read later must not stand here again.
  let touched = false;
  const take = (kept: readonly KeptDraft[]) => {
    const newer = kept.find(({ key, at }) => key === draft && at > (quick?.at ?? -1));
    if (newer && !touched) {
      box.value = newer.text;
      grow();
      if (button) button.disabled = isEmpty();
    }
    show();
  };
  void keptDrafts.then(take);
  let written = quick ?? { text: '', at: 0 };
  let keeping: ReturnType<typeof setTimeout> | undefined;
  box.addEventListener('input', () => {
    grow();
    touched = true;
    box.dataset['written'] = '';
    // Whoever writes on has not ended.
    send(false);
    // The last keys are kept, should the app never come.
    written = { text: box.value, at: stamp() };
    writeEcho(draft, written);
    keeping ??= setTimeout(() => {
      keeping = undefined;
      void putEarlyDrafts(new Map([[draft, written]])).catch(() => undefined);
    }, keepAfter);
  });
  // Once the style is there, before the first paint.
  requestAnimationFrame(() => {
    if (box.value) grow();
  });
  if (!button) return;
  const breaks = enterMakesLine();
  button.disabled = isEmpty();
  button.addEventListener('click', (event) => {
    event.preventDefault();
    send(true);
  });
  box.addEventListener('keydown', (event) => {
    if (!isSendKey(event, breaks)) return;
    event.preventDefault();
    send(true);
  });
};

const showFirst = (first: HTMLElement): void => {
  showSnapshot(first);
  const form = first.querySelector(`[data-writer=${place}]`);
  const box = form?.querySelector('textarea');
  const button = form?.querySelector<HTMLButtonElement>('[data-sender]');
  if (box) openBox(first, box, button ?? null, session ?? 'home');
  // A link leads on within the app once that is there, which is sooner than to load the page anew.
  first.addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a[href^="/"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    first.dataset['next'] = link.getAttribute('href') ?? '/';
    first.dispatchEvent(new Event('next'));
  });
  first.addEventListener('compositionstart', () => {
    first.dataset['composing'] = '';
  });
  first.addEventListener('compositionend', () => {
    delete first.dataset['composing'];
  });
  first.addEventListener('pointerdown', () => {
    first.dataset['pressed'] = '';
  });
  const release = () => {
    delete first.dataset['pressed'];
    first.dispatchEvent(new Event('released'));
  };
  for (const name of ['pointerup', 'pointercancel']) addEventListener(name, release);
  const list = first.querySelector('[role="log"]');
  requestAnimationFrame(() => {
    if (list) list.scrollTop = list.scrollHeight;
  });
};
// Not by a script behind it: the empty boxes would be seen before it runs.
if (place)
  new MutationObserver((_, observer) => {
    const root = document.querySelector('#root');
    const first = document.querySelector<HTMLElement>('#first');
    if (!root || !first) return;
    observer.disconnect();
    // One of the two is read out, not both.
    root.setAttribute('aria-hidden', 'true');
    showFirst(first);
  }).observe(document.documentElement, { childList: true, subtree: true });

/** The app can not be had, or fails at once: said plainly, where nothing would ever happen. */
const tellFailed = (): void => {
  const note = document.createElement('div');
  note.className = 'first-failed';
  note.role = 'alert';
  note.append('没有加载完，请检查网络后重新加载');
  const again = document.createElement('button');
  again.type = 'button';
  again.className = 'button button-primary';
  again.append('重新加载');
  again.addEventListener('click', () => location.reload());
  note.append(again);
  document.body.append(note);
  addEventListener('online', () => location.reload(), { once: true });
};

let started = false;
const start = (): void => {
  if (started) return;
  started = true;
  askEarly(pathname, session, token);
  // The code of the screen that is opened comes together with the page's own.
  for (const file of pageFiles[pathname] ?? []) linkTo('modulepreload', file);
  if (matchMedia(wideEnoughForMenu).matches)
    for (const file of pageFiles['menu'] ?? []) linkTo('modulepreload', file);
  const { app } = pageFiles;
  if (app === undefined) return;
  const run = () => void import(/* @vite-ignore */ app).catch(tellFailed);
  // The app may be at hand before the document is: it needs its root.
  if (document.readyState === 'loading') addEventListener('DOMContentLoaded', run);
  else run();
};
// Each request and each kilobyte of code takes its time from the first view: it is seen before them.
if (place && !document.hidden) {
  new PerformanceObserver((list) => {
    if (list.getEntriesByName('first-contentful-paint').length > 0) start();
  }).observe({ type: 'paint', buffered: true });
  setTimeout(start, longestWait);
} else start();

// An installed app opened at a conversation: going back leads home, not out of it.
if (history.length === 1 && pathname !== '/' && matchMedia('(display-mode: standalone)').matches) {
  const here = location.href;
  history.replaceState({ __TSR_index: 0, __TSR_key: 'home', key: 'home' }, '', '/');
  history.pushState({ __TSR_index: 1, __TSR_key: 'here', key: 'here' }, '', here);
}
