import '#src/app/themes/tokens.css';
import '#src/app/themes/wechat.css';
import '#src/app/themes/telegram.css';
import '#src/app/base.css';
import '#src/ui/ui.css';
import '#src/app/shell.css';
// The first HTML shows boxes of home and chat, or images of them: their style is there before their code.
import '#src/features/session/home.module.css';
import '#src/widgets/conversation/conversation.module.css';
import '#src/widgets/composer/send.module.css';
import '#src/features/chat/chat.module.css';
import '#src/widgets/markdown/markdown.module.css';
import { onLoginRequired } from '#src/platform/server-api.ts';
import { accountOf } from '#src/platform/account-of.ts';
import { authStore } from '#src/platform/auth-store.ts';
import { clearCache } from '#src/platform/cache.ts';
import { draftsRead } from '#src/platform/draft.ts';
import { onFirstUse } from '#src/platform/first-use.ts';
import { endFirstView, followFirstView, forgetAsked } from '#src/platform/first-view.ts';
import { inIdleTime } from '#src/platform/idle.ts';
import { hasLeft } from '#src/platform/outbox.ts';
import { letGoWhenLeft } from '#src/platform/let-go.ts';
import { lazyChunk, whenLoaded } from '#src/platform/lazy-chunk.ts';
import { unsentRead } from '#src/platform/unsent.ts';
import { takeLoginEnded } from '#src/platform/login-ended.ts';
import { noteLoginReason } from '#src/platform/login-reason.ts';
import { loadOutbox } from '#src/platform/load-outbox.ts';
import { mayReload, reloadOnce } from '#src/platform/reload-once.ts';
import { queryClient } from '#src/platform/query-client.ts';
import { leaveToasts, toast, onToastLeads } from '#src/platform/toast.ts';
import type { ToWorker } from '#sw/messages.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadChat } from '#src/features/chat/routes.ts';
import { loadHome } from '#src/features/session/routes.ts';
import { SessionTypes } from '#src/widgets/conversation/session-type.ts';
import { router } from './routes.tsx';
import { sessionTypes } from './session-types.ts';

letGoWhenLeft();

/** As long as what stands before the app may stay, ms after its start. */
const longestFirstView = 15_000;

// A chunk that a new version took away: the page is loaded anew, once, so that a lasting fault shows.
// One that is only out of reach is no reason: without a network so would be the page. Which of the two
// it is, the server says of that very chunk, or of this one where the browser does not name it.
const reloadIfGone = async ({ message }: Error): Promise<void> => {
  if (!mayReload()) return;
  const [chunk = import.meta.url] = /[^\s"']*\/assets\/[\w.-]+/.exec(message) ?? [];
  // The worker answers no HEAD.
  const { status } = await fetch(chunk, { method: 'HEAD', cache: 'no-store' });
  if (status === 404) reloadOnce();
};
window.addEventListener(
  'vite:preloadError',
  ({ payload }) => void reloadIfGone(payload).catch(() => undefined),
);

onToastLeads((href) => void router.navigate({ href }));
onLoginRequired((loginUrl) => {
  void router.navigate({ href: loginUrl });
});

// Another account, in this tab or another: nothing read for the former one stays on screen.
let account = accountOf(authStore.get().token);
authStore.subscribe(() => {
  const next = accountOf(authStore.get().token);
  if (next === account) return;
  if (account !== '')
    void import('#src/platform/pwa.ts').then((pwa) => pwa.forgetPerson()).catch(() => undefined);
  account = next;
  endFirstView();
  clearCache();
  // After the screens have heard of it: what is no longer asked for is then not asked again.
  setTimeout(() => {
    void queryClient.resetQueries({ predicate: (query) => query.meta?.['steady'] !== true });
    // Which of them can be used is each account's own.
    void queryClient.invalidateQueries({ queryKey: ['models'] });
  });
});

const { pathname: firstPath } = location;
const atHome = firstPath === '/';
followFirstView((href) => void router.navigate({ href }).then(endFirstView, endFirstView));
// What was typed stands in its boxes and forms from their first frame on, and what waits in its session.
await Promise.all([draftsRead(), unsentRead()]);
createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <SessionTypes value={sessionTypes}>
        <RouterProvider router={router} />
      </SessionTypes>
    </QueryClientProvider>
  </StrictMode>,
);
const ended = takeLoginEnded();
if (ended?.whose === 'account') {
  const why = ended.why || '登录已失效，请重新登录';
  toast(why, 'info', {
    label: '去登录',
    run: () => {
      noteLoginReason(why);
      void router.navigate({
        to: '/login',
        search: { back: `${location.pathname}${location.search}` },
      });
    },
  });
} else if (ended?.whose === 'guest') toast('访客身份已失效，可以重新开始聊天');
router.subscribe('onBeforeLoad', ({ pathChanged }) => {
  if (!pathChanged) return;
  leaveToasts();
  forgetAsked();
});
// A screen takes its place itself; one that led elsewhere, or failed, does not.
const leaveFirstView = router.subscribe('onResolved', ({ toLocation }) => {
  if (toLocation.pathname !== firstPath) endFirstView();
});
setTimeout(() => {
  leaveFirstView();
  endFirstView();
}, longestFirstView);

// The worker keeps the app for the next time, however soon the page is left: it starts with the first
// quiet moment after the first screen. Home and chat come with it; all other screens after them, unless
// the person saves data.
const startWorker = async () => {
  await navigator.serviceWorker.register('/sw.js');
  const { connection } = navigator as { connection?: { saveData?: boolean } };
  if (connection?.saveData === true) return;
  const registration = await navigator.serviceWorker.ready;
  const message: ToWorker = { type: 'complete-shell' };
  registration.active?.postMessage(message);
};
if (import.meta.env.PROD && 'serviceWorker' in navigator) {
  const leaveRendered = router.subscribe('onRendered', () => {
    leaveRendered();
    inIdleTime(() => void startWorker().catch(() => undefined));
  });
}

// The rest of the app comes with the first use, or soon after the first screen; what another app
// shared, at once.
const loadPhone = () =>
  void whenLoaded(
    lazyChunk(() => import('./phone.tsx')),
    (phone) => phone.startPhone(router),
  );
if (location.search.includes('shared=')) loadPhone();
else onFirstUse(loadPhone);

// Where people go next is fetched ahead.
const loadNext = lazyChunk<unknown>(atHome ? loadChat : loadHome);
onFirstUse(() => void loadNext().catch(() => undefined));

// What a former life of the page left to be sent goes on soon; else the outbox is only fetched, so
// that it is there when the network is not.
const wakeOutbox = () => void loadOutbox().catch(() => undefined);
if (hasLeft()) setTimeout(wakeOutbox, 300);
else onFirstUse(wakeOutbox);
