import { keepInstallOffers } from './install-offer.ts';
import { createStore, useStore } from './store.ts';

/** Putting the app on the home screen. Loaded after the first screen, as pwa.ts is. */

/** prompt: the browser asks itself; ios: by hand, in its menu; none: it is, or can not be. */
export type InstallWay = 'prompt' | 'ios' | 'none';

export const isStandalone = (): boolean =>
  matchMedia('(display-mode: standalone), (display-mode: minimal-ui)').matches ||
  (navigator as { standalone?: boolean }).standalone === true;

/** iPhone or iPad; an iPad says that it is a Mac, with a touch screen. */
export const isApple =
  /iPhone|iPad|iPod/.test(navigator.userAgent) ||
  (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);

const wayNow = (): InstallWay => {
  if (isStandalone()) return 'none';
  if (window.queqiaoInstall) return 'prompt';
  return isApple ? 'ios' : 'none';
};

const way = createStore<InstallWay>(wayNow());
export const useInstallWay = (): InstallWay => useStore(way);

keepInstallOffers(() => way.set(wayNow()));
addEventListener('appinstalled', () => {
  window.queqiaoInstall = undefined;
  way.set('none');
});

/** Lets the browser ask; true: it is being installed. Its offer can be used once. */
export const install = async (): Promise<boolean> => {
  const offer = window.queqiaoInstall;
  if (!offer) return false;
  window.queqiaoInstall = undefined;
  way.set('none');
  return (await offer.prompt()).outcome === 'accepted';
};

/** What this browser remembers of it; nothing of the person. */
interface Memory {
  visits: number;
  lastVisit: number;
  answers: number;
  refused: number;
  refusedAt: number;
}
const key = 'queqiao.install';
const unknown: Memory = { visits: 0, lastVisit: 0, answers: 0, refused: 0, refusedAt: 0 };
const read = (): Memory => {
  try {
    return { ...unknown, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<Memory>) };
  } catch {
    return unknown;
  }
};
const write = (change: Partial<Memory>) => {
  try {
    localStorage.setItem(key, JSON.stringify({ ...read(), ...change }));
  } catch {
    // Nothing is remembered, so nothing is offered.
  }
};

/** Two visits are at least this far apart, ms. */
const apart = 30 * 60_000;
/** After the first refusal it is offered once more, after the second never, ms. */
const rest = 90 * 24 * 60 * 60_000;

export const noteVisit = (): void => {
  const { visits, lastVisit } = read();
  if (Date.now() - lastVisit > apart) write({ visits: visits + 1, lastVisit: Date.now() });
};
export const noteAnswer = (): void => write({ answers: read().answers + 1 });
export const noteRefusal = (): void =>
  write({ refused: read().refused + 1, refusedAt: Date.now() });

/** Whether it may be offered now: the second visit or the second answer, and not refused lately. */
export const isGoodMoment = (): boolean => {
  const { visits, answers, refused, refusedAt } = read();
  if (refused > 1 || (refused === 1 && Date.now() - refusedAt < rest)) return false;
  return visits >= 2 || answers >= 2;
};
