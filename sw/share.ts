import { registerRoute } from 'workbox-routing';
import { cacheNames, sharedText, shareTarget, type SharedText } from './messages.ts';

/** As many files as a message can take of images and files together. */
const mostFiles = 12;

const textOf = (form: FormData, name: string): string => {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
};

/**
 * Another app shares something: the browser posts it as a form. It is put aside in this browser,
 * where the page finds it (src/app/shared-in.ts), and nothing of it goes to the server yet.
 */
const takeIn = async (request: Request): Promise<void> => {
  const form = await request.formData();
  const files = form.getAll('files').filter((each) => each instanceof File);
  // What was shared before and not taken is not mixed into it.
  await caches.delete(cacheNames.shared);
  const cache = await caches.open(cacheNames.shared);
  const said = ['title', 'text', 'url'].map((name) => textOf(form, name)).filter(Boolean);
  const text: SharedText = { text: [...new Set(said)].join('\n') };
  await cache.put(sharedText, Response.json(text));
  for (const [at, file] of files.slice(0, mostFiles).entries())
    await cache.put(
      `${shareTarget}/${at}`,
      new Response(file, {
        headers: { 'content-type': file.type, 'x-name': encodeURIComponent(file.name) },
      }),
    );
};

/**
 * Whether a page of another site posted it, as far as browsers tell a worker: they say no page where
 * an app shares something, nor where a site hides that it sends.
 */
const isForeign = ({ referrer, headers }: Request): boolean =>
  [referrer, headers.get('origin') ?? ''].some(
    (from) => /^https?:/.test(from) && new URL(from).origin !== location.origin,
  );

/** Answers the manifest's share target. */
export const answerShares = (): void => {
  registerRoute(
    ({ url, sameOrigin }) => sameOrigin && url.pathname === shareTarget,
    async ({ request }) => {
      const taken =
        !isForeign(request) &&
        (await takeIn(request).then(
          () => true,
          () => false,
        ));
      return Response.redirect(`/?shared=${taken ? 1 : 0}`, 303);
    },
    'POST',
  );
};
