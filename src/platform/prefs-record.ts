import { readStored } from './stored.ts';

/** Choices of this browser. */
export interface Prefs {
  theme: 'wechat' | 'telegram';
  dark: 'system' | 'light' | 'dark';
  /** A name or `#rrggbb`, as it was chosen; empty: the theme's own. */
  accent: string;
  /** What accent-tones.ts makes of it: accent, pressed and soft, in the light, then in the dark. */
  tones: readonly string[];
  /** Size of text, percent of what the browser is set to. */
  text: 90 | 100 | 115 | 130;
  /** Widest content, px. */
  width: 960 | 1080 | 1200;
  /** The recent-sessions column of wide screens is open. */
  sidebar: boolean;
  /** Labels of places behind 更多 that stand in the side menu itself. */
  pinned: readonly string[];
  /** Name of the chat model chosen last; empty: the server's default. */
  model: string;
  /** The same of models of images. */
  painter: string;
}

export const prefsKey = 'queqiao.prefs';
const defaults: Prefs = {
  theme: 'wechat',
  dark: 'system',
  accent: '',
  tones: [],
  text: 100,
  width: 1080,
  sidebar: true,
  pinned: [],
  model: '',
  painter: '',
};

export const readPrefs = (): Prefs => {
  try {
    return { ...defaults, ...(JSON.parse(readStored(prefsKey) || '{}') as Partial<Prefs>) };
  } catch {
    return defaults;
  }
};

/** The --ground of each theme, light and dark, for the browser's own bar. */
const grounds: Record<string, readonly [string, string]> = {
  wechat: ['#f3f3f3', '#111111'],
  telegram: ['#f1f5f9', '#0e1621'],
};

/** Puts the choices on the root element; the style sheets do the rest. */
export const showPrefs = (prefs: Prefs): void => {
  const root = document.documentElement;
  const isDark =
    prefs.dark === 'dark' ||
    (prefs.dark === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  root.dataset['theme'] = prefs.theme;
  root.dataset['dark'] = isDark ? '1' : '0';
  for (const [at, part] of ['', '-press', '-soft'].entries())
    root.style.setProperty(`--accent${part}`, prefs.tones[isDark ? at + 3 : at] ?? null);
  root.style.fontSize = `${prefs.text}%`;
  root.dataset['width'] = String(prefs.width);
  root.dataset['sidebar'] = prefs.sidebar ? '1' : '0';
  const ground = (grounds[prefs.theme] ?? grounds['wechat'])?.[isDark ? 1 : 0] ?? '';
  for (const color of document.querySelectorAll('meta[name="theme-color"]'))
    color.setAttribute('content', ground);
};
