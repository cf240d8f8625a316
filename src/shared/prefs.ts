import { useSyncExternalStore } from 'react';

/** Choices of this browser. `src/app/boot.js` reads the same record before the first paint. */
export interface Prefs {
  theme: 'wechat' | 'telegram';
  dark: 'system' | 'light' | 'dark';
  /** Widest content, px. */
  width: 960 | 1080 | 1200;
  /** The recent-sessions column of wide screens is open. */
  sidebar: boolean;
  /** Name of the chat model chosen last; empty: the server's default. */
  model: string;
}

const key = 'queqiao.prefs';
const defaults: Prefs = { theme: 'wechat', dark: 'system', width: 1080, sidebar: true, model: '' };

const read = (): Prefs => {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Prefs>) };
  } catch {
    return defaults;
  }
};

let prefs = read();
const listeners = new Set<() => void>();
const media = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

/** Puts the choices on the root element; the style sheets do the rest. */
const apply = () => {
  const root = document.documentElement;
  const dark = prefs.dark === 'dark' || (prefs.dark === 'system' && media?.matches === true);
  root.dataset['theme'] = prefs.theme;
  root.dataset['dark'] = dark ? '1' : '0';
  root.dataset['width'] = String(prefs.width);
  root.dataset['sidebar'] = prefs.sidebar ? '1' : '0';
  document
    .querySelector('meta[name="theme-color"]')
    ?.setAttribute('content', getComputedStyle(root).getPropertyValue('--ground').trim());
};

const publish = () => {
  apply();
  for (const listener of listeners) listener();
};

export const prefsStore = {
  get: (): Prefs => prefs,
  set(next: Partial<Prefs>) {
    prefs = { ...prefs, ...next };
    try {
      localStorage.setItem(key, JSON.stringify(prefs));
    } catch {
      // The choice lasts as long as the page.
    }
    publish();
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  },
};

media?.addEventListener('change', publish);
globalThis.addEventListener?.('storage', (event) => {
  if (event.key !== key) return;
  prefs = read();
  publish();
});

export const usePrefs = (): Prefs => useSyncExternalStore(prefsStore.subscribe, prefsStore.get);
