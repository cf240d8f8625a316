import { createStore, useStore } from './store.ts';

/** Choices of this browser. `src/app/boot.js` reads the same record before the first paint. */
export interface Prefs {
  theme: 'wechat' | 'telegram';
  dark: 'system' | 'light' | 'dark';
  /** Names a colour of src/app/themes/accents.css; empty: the theme's own. */
  accent: '' | 'blue' | 'green' | 'purple' | 'red' | 'orange';
  /** Widest content, px. */
  width: 960 | 1080 | 1200;
  /** The recent-sessions column of wide screens is open. */
  sidebar: boolean;
  /** Name of the chat model chosen last; empty: the server's default. */
  model: string;
  /** The same of models of pictures. */
  painter: string;
}

const key = 'queqiao.prefs';
const defaults: Prefs = {
  theme: 'wechat',
  dark: 'system',
  accent: '',
  width: 1080,
  sidebar: true,
  model: '',
  painter: '',
};

const read = (): Prefs => {
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Prefs>) };
  } catch {
    return defaults;
  }
};

const store = createStore(read());
const systemDark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

/** Puts the choices on the root element; the style sheets do the rest. */
const apply = () => {
  const prefs = store.get();
  const root = document.documentElement;
  const dark = prefs.dark === 'dark' || (prefs.dark === 'system' && systemDark?.matches);
  root.dataset['theme'] = prefs.theme;
  root.dataset['dark'] = dark ? '1' : '0';
  root.dataset['accent'] = prefs.accent;
  root.dataset['width'] = String(prefs.width);
  root.dataset['sidebar'] = prefs.sidebar ? '1' : '0';
  const ground = getComputedStyle(root).getPropertyValue('--ground').trim();
  for (const color of document.querySelectorAll('meta[name="theme-color"]'))
    color.setAttribute('content', ground);
};

export const prefsStore = {
  get: store.get,
  set: (next: Partial<Prefs>) => {
    const prefs = { ...store.get(), ...next };
    try {
      localStorage.setItem(key, JSON.stringify(prefs));
    } catch {
      // The choice lasts as long as the page.
    }
    store.set(prefs);
    apply();
  },
};

systemDark?.addEventListener('change', apply);
globalThis.addEventListener?.('storage', (event) => {
  if (event.key !== key) return;
  store.set(read());
  apply();
});

export const usePrefs = (): Prefs => useStore(store);
