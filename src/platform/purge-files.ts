import { cacheNames } from '#sw/messages.ts';

const named = /\/files\/(?:video\/)?([0-9a-f]{40})/g;

/** The keys of the files that something kept here names. */
export const filesIn = (kept: unknown): string[] =>
  [...JSON.stringify(kept).matchAll(named)].flatMap(([, key]) => key ?? []);

/** What was deleted is not shown once more, neither by the worker nor from the browser's own cache. */
export const purgeFiles = async (keys: readonly string[]): Promise<void> => {
  if (keys.length === 0 || typeof caches === 'undefined') return;
  const gone = new Set(keys);
  for (const name of [cacheNames.thumbnails, cacheNames.images]) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      const [, key] = /\/([0-9a-f]{40})\./.exec(request.url) ?? [];
      if (key === undefined || !gone.has(key)) continue;
      await cache.delete(request, { ignoreVary: true });
      // The server's refusal takes the place of what the browser kept.
      void fetch(request.url, { cache: 'reload' }).catch(() => undefined);
    }
  }
};
