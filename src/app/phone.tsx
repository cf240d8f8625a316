import { tonesOf } from '#src/platform/accent-tones.ts';
import { prefsStore } from '#src/platform/prefs.ts';
import { busyStore } from '#src/platform/busy.ts';
import { isApple, isStandalone, noteAnswer, noteVisit } from '#src/platform/pwa-install.ts';
import { startPwa } from '#src/platform/pwa.ts';
import { sayOnce } from '#src/platform/say-once.ts';
import { toast } from '#src/platform/toast.ts';
import { startWaits } from '#src/platform/waits.ts';
import { createRoot } from 'react-dom/client';
import { watchKeyboard } from './keyboard.ts';
import { Offers } from './offers.tsx';
import type { router } from './routes.tsx';
import { startSnapshots } from './take-snapshot.ts';

/** Given, not imported: the router's code is the first path's. */
type Router = typeof router;

/** What was shared into the app is at `/?shared=1`; 0: the worker could not take it. */
const takeShares = async (router: Router): Promise<void> => {
  const shared = new URLSearchParams(location.search).get('shared');
  if (location.pathname !== '/' || shared === null) return;
  await router.navigate({ to: '/', search: { new: 1 }, replace: true });
  if (shared === '1') await (await import('./shared-in.ts')).takeShared();
  else toast('没有收到分享的内容，请再分享一次', 'error');
};

const countAnswers = () => {
  let before = 0;
  busyStore.subscribe(() => {
    const { replies } = busyStore.get();
    if (replies < before) noteAnswer();
    before = replies;
  });
};

/**
 * What makes an app of the page, once its first screen stands: the service worker, what is offered,
 * the keyboard, what other apps share. In a root of its own, so that the first path knows nothing of it.
 */
export const startPhone = (router: Router): void => {
  const host = document.createElement('div');
  document.body.append(host);
  createRoot(host).render(<Offers />);
  watchKeyboard();
  startSnapshots();
  noteVisit();
  countAnswers();
  startWaits((href) => void router.navigate({ href }));
  void startPwa();
  // An installed app's data is not the first that a full phone throws away.
  if (isStandalone()) void navigator.storage?.persist?.().catch(() => undefined);
  if (isApple && !isStandalone())
    void import('./splash.ts').then((splash) => splash.drawSplashScreens()).catch(() => undefined);
  addEventListener('answered', (event) => {
    const [failed, text] = (event as CustomEvent<[string | undefined, string]>).detail;
    sayOnce(failed || '回复完成', text);
  });
  // Chosen by name before any colour could be had.
  const { accent, tones } = prefsStore.get();
  if (accent !== '' && tones.length === 0) prefsStore.set({ tones: tonesOf(accent) });
  void takeShares(router).catch(() => toast('没有收到分享的内容，请再分享一次', 'error'));
};
