import '@/app/themes/tokens.css';
import '@/app/themes/wechat.css';
import '@/app/themes/telegram.css';
import '@/app/base.css';
import '@/shared/ui/ui.css';
import '@/app/shell.css';
// The first HTML shows the home's box: its style is there before its code.
import '@/features/session/home.css';
import { onLoginRequired } from '@/shared/api.ts';
import { accountOf, authStore } from '@/shared/auth-store.ts';
import { clearCache } from '@/shared/cache.ts';
import { hasLeft } from '@/shared/outbox.ts';
import { loadOutbox } from '@/shared/pending.ts';
import { queryClient } from '@/shared/query-client.ts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { loadChat, loadHome, router } from './routes.tsx';

// A chunk that a new version took away: the page is loaded anew, once, so that a lasting fault shows.
// Without a network a chunk is only out of reach, and so would be the page.
const reloadKey = 'queqiao.reloaded';
window.addEventListener('vite:preloadError', (event) => {
  const last = Number(sessionStorage.getItem(reloadKey) ?? 0);
  if (!navigator.onLine || Date.now() - last < 60_000) return;
  event.preventDefault();
  sessionStorage.setItem(reloadKey, String(Date.now()));
  location.reload();
});

onLoginRequired((loginUrl) => {
  void router.navigate({ href: loginUrl });
});

// Another account, in this tab or another: nothing read for the former one stays on screen.
let account = accountOf(authStore.get().token);
authStore.subscribe(() => {
  const next = accountOf(authStore.get().token);
  if (next === account) return;
  if (account !== '')
    void import('@/shared/pwa.ts').then((pwa) => pwa.forgetPerson()).catch(() => undefined);
  account = next;
  clearCache();
  // After the screens have heard of it: what is no longer asked for is then not asked again.
  setTimeout(
    () => void queryClient.resetQueries({ predicate: (query) => query.meta?.['steady'] !== true }),
  );
});

const mount = () =>
  createRoot(document.querySelector('#root')!).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
const atHome = location.pathname === '/';
// The boxes of the first HTML stand until the home screen can take their place.
if (atHome) await loadHome().catch(() => undefined);
// Nobody is interrupted in the middle of a word that an input method is composing (boot.js notes it).
if (document.documentElement.dataset['composing'] === '1')
  document.addEventListener('compositionend', () => setTimeout(mount), { once: true });
else mount();

// The rest of the app comes once the first screen stands; what another app shared, at once.
setTimeout(
  () => void import('./phone.tsx').then((phone) => phone.startPhone(router)).catch(() => undefined),
  location.search.includes('shared=') ? 0 : 3_000,
);

// Where people go next is fetched once somebody uses the page, or it has been at rest for long.
const loadNext = () => void (atHome ? loadChat() : loadHome()).catch(() => undefined);
for (const use of ['pointerdown', 'keydown', 'input'])
  addEventListener(use, loadNext, { once: true, capture: true, passive: true });
setTimeout(loadNext, 5_000);

// What a former life of the page left to be sent goes on soon; else the outbox is only fetched, so
// that it is there when the network is not.
setTimeout(() => void loadOutbox().catch(() => undefined), hasLeft() ? 300 : 6_000);
