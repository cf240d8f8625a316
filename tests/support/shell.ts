import type { Page } from '@playwright/test';

/** Waits until the service worker serves this page and has everything that it fetches ahead. */
export const shellComplete = (page: Page): Promise<void> =>
  page.evaluate(async () => {
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => {
        navigator.serviceWorker.addEventListener('controllerchange', resolve, { once: true });
      });
    const worker = await (await fetch('/sw.js')).text();
    const wanted = [...worker.matchAll(/"url":"([^"]+)"/g)].map(([, url = '']) => url);
    const missing = async (url: string) => !(await caches.match(url, { ignoreSearch: true }));
    for (const url of wanted)
      while (await missing(url)) await new Promise((resolve) => setTimeout(resolve, 100));
  });
