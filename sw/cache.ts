import { clientsClaim, type WorkboxPlugin } from 'workbox-core';
import { ExpirationPlugin } from 'workbox-expiration';
import { PrecacheController, PrecacheRoute } from 'workbox-precaching';
import { registerRoute } from 'workbox-routing';
import { CacheFirst, StaleWhileRevalidate } from 'workbox-strategies';
import { cacheNames } from './messages.ts';

declare const self: ServiceWorkerGlobalScope;

/** Chunks of earlier builds that are kept for tabs that still run them; the oldest go first. */
const mostFormer = 300;
const day = 86_400;

const isAsset = (url: URL) =>
  url.origin === self.location.origin && url.pathname.startsWith('/assets/');
/** What the server answers itself, and files such as /robots.txt: never the app's HTML. `/api` is a screen. */
const isApp = ({ pathname }: URL) =>
  !/^\/(api\/|(v1|files)(\/|$))/.test(pathname) &&
  !pathname.slice(pathname.lastIndexOf('/') + 1).includes('.');

/** A file of the shell, as the build lists it (scripts/pwa.ts). */
export interface ShellFile {
  url: string;
  /** Of its content, where the address does not name that; else null. */
  revision: string | null;
  /** Home or a chat can not open without it. */
  first?: true;
}

/** So many files are fetched ahead at once: of six connections the page has the others. */
const atOnce = 2;
/** Between two files of screens that nobody has asked for yet: what is being read comes before them, ms. */
const rest = 50;

/**
 * An answer that has not begun after so long is given up, ms: on a line that answers nothing it would
 * hold one of the few connections, and what is asked once the line is well would wait behind it.
 */
const patience = 10_000;

/** `fetch` that rejects where nothing answers; how long the answer itself takes is not limited. */
const fetchPatiently = async (request: Request | string, init: RequestInit = {}) => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), patience);
  try {
    return await fetch(request, { ...init, signal: abort.signal });
  } finally {
    clearTimeout(timer);
  }
};

/** The same for what a page asks for. */
const patient: WorkboxPlugin = {
  requestWillFetch: async ({ request, state }) => {
    const abort = new AbortController();
    if (state) state['timer'] = setTimeout(() => abort.abort(), patience);
    return new Request(request, { signal: abort.signal });
  },
  fetchDidSucceed: async ({ response, state }) => {
    clearTimeout(state?.['timer'] as number | undefined);
    return response;
  },
};

/** Fetches what is not there yet of files of the shell. Rejects when one can not be had. */
const fetchAhead = async (
  precache: PrecacheController,
  files: readonly ShellFile[],
  pause = 0,
): Promise<void> => {
  const cache = await caches.open(precache.strategy.cacheName);
  const there = new Set((await cache.keys()).map(({ url }) => url));
  const queue = files.values();
  const work = async () => {
    for (const { url, revision } of queue) {
      const key = precache.getCacheKeyForURL(url) ?? url;
      if (there.has(key)) continue;
      // What has no hash in its name may have changed on the server since the browser kept it.
      const answer = await fetchPatiently(url, {
        cache: revision ? 'no-cache' : 'default',
        priority: 'low',
      });
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
      await cache.put(key, answer);
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
};

/** Before what is no longer precached goes, its chunks move to where old tabs still find them. */
const keepFormer = async (precache: PrecacheController) => {
  const [present, former] = await Promise.all([
    caches.open(precache.strategy.cacheName),
    caches.open(cacheNames.former),
  ]);
  const current = new Set(precache.getCachedURLs());
  for (const request of await present.keys()) {
    const response = current.has(request.url) ? undefined : await present.match(request);
    if (response && isAsset(new URL(request.url))) await former.put(request, response);
  }
  const all = await former.keys();
  for (const request of all.slice(0, Math.max(0, all.length - mostFormer)))
    await former.delete(request);
};

const reserveBytes = 512 * 1024;
/** Keeps some room for the day on which the disk is full. */
const keepReserve = async () => {
  const reserve = await caches.open(cacheNames.reserve);
  if ((await reserve.keys()).length === 0)
    await reserve.put('/reserve', new Response(new Uint8Array(reserveBytes)));
};

/** What the server says is gone is not shown from here either. */
const forgetGone = (cacheName: string): WorkboxPlugin => ({
  fetchDidSucceed: async ({ request, response }) => {
    if (response.status === 404) await (await caches.open(cacheName)).delete(request.url);
    return response;
  },
});

const expiring = (
  kind: 'library' | 'image',
  cacheName: string,
  maxEntries: number,
  days: number,
) => {
  const expiration = new ExpirationPlugin({
    maxEntries,
    maxAgeSeconds: days * day,
    purgeOnQuotaError: true,
  });
  // The address of an upload or a chunk names its content for good.
  const options = {
    cacheName,
    matchOptions: { ignoreVary: true },
    plugins: [patient, expiration, ...(kind === 'image' ? [forgetGone(cacheName)] : [])],
  };
  return {
    strategy: kind === 'library' ? new CacheFirst(options) : new StaleWhileRevalidate(options),
    clear: () => expiration.deleteCacheAndMetadata(),
  };
};

/**
 * The shell from the precache, libraries and images as they are met. Calls (/api/, /v1/) are not
 * answered here at all: no route takes them, so none of their answers is ever kept by accident.
 * The worker is installed as soon as home and chats open without a network: a visit may be short.
 * The other files come when a page asks for them.
 */
export const startCache = (
  files: readonly ShellFile[],
): {
  /** Fetches what is still missing of the shell. */
  complete: () => Promise<void>;
  /** Empties the person's own part. */
  forget: () => Promise<unknown>;
} => {
  /** What a page asks for before it came ahead has not to come again: its screen opens from now on. */
  const keepAsked: WorkboxPlugin = {
    fetchDidSucceed: async ({ request, response }) => {
      if (response.ok && isAsset(new URL(request.url))) {
        const cache = await caches.open(precache.strategy.cacheName);
        await cache.put(request.url, response.clone()).catch(() => undefined);
      }
      return response;
    },
  };
  const precache: PrecacheController = new PrecacheController({ plugins: [patient, keepAsked] });
  precache.addToCacheList(files.map(({ url, revision }) => ({ url, revision })));
  self.addEventListener('install', (event) => {
    event.waitUntil(
      fetchAhead(
        precache,
        files.filter(({ first }) => first),
      ),
    );
  });
  self.addEventListener('activate', (event) => {
    event.waitUntil(
      keepFormer(precache)
        .catch(() => undefined)
        .then(() => precache.activate(event)),
    );
  });
  // The tab of the first visit is served from here as well.
  clientsClaim();

  const shell = precache.createHandlerBoundToURL('/index.html');
  registerRoute(({ request, url }) => request.mode === 'navigate' && isApp(url), shell);
  registerRoute(new PrecacheRoute(precache, { cleanURLs: false, directoryIndex: '' }));

  const libraries = expiring('library', cacheNames.libraries, 200, 60);
  registerRoute(
    ({ url }) => isAsset(url),
    async (options) => {
      const former = await caches.open(cacheNames.former);
      return (await former.match(options.request)) ?? libraries.strategy.handle(options);
    },
  );

  const thumbnails = expiring('image', cacheNames.thumbnails, 400, 30);
  const images = expiring('image', cacheNames.images, 40, 30);
  registerRoute(
    ({ request, url, sameOrigin }) =>
      sameOrigin && request.destination === 'image' && url.pathname.startsWith('/files/'),
    (options) =>
      (options.url.searchParams.has('size') ? thumbnails : images).strategy.handle(options),
  );
  return {
    complete: async () => {
      await keepReserve().catch(() => undefined);
      await fetchAhead(precache, files, rest);
    },
    forget: () =>
      Promise.all([thumbnails.clear(), images.clear(), caches.delete(cacheNames.shared)]),
  };
};
