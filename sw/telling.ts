import type { WaitResult } from '#contract/wait.ts';
import { getFact } from './kv.ts';
import type { FromWorker } from './messages.ts';
import { keyOf, noteTold, readBook } from './wait-book.ts';

declare const self: ServiceWorkerGlobalScope;

/** How long a tab may take to answer, ms. */
const answerMs = 1_500;

let telling: Promise<unknown> = Promise.resolve();

const tabs = () => self.clients.matchAll({ type: 'window', includeUncontrolled: true });

/** Says something to a tab; false when it says no, or nothing: it is only just loading, say. */
const ask = (tab: Client, message: FromWorker): Promise<boolean> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', ({ data }) => resolve(data === true));
    port1.start();
    tab.postMessage(message, [port2]);
    setTimeout(() => resolve(false), answerMs);
  });

/** The number on the app's icon: what was told and not yet looked at. */
export const showBadge = async (): Promise<void> => {
  const count = (await self.registration.getNotifications()).length;
  // Not every browser has badges, and some only for installed apps.
  await (count > 0 ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.())?.catch(
    () => undefined,
  );
};

const tell = async (result: WaitResult): Promise<void> => {
  const key = keyOf(result);
  const { told } = await readBook();
  if (told[key] === undefined) {
    const all = await tabs();
    const message: FromWorker = { type: 'wait-ended', result };
    const answers = all.map((tab) => ({ tab, answer: ask(tab, message) }));
    // Tabs out of sight hear of it as well; some are frozen and would answer much later.
    const looking = answers.filter(({ tab }) => tab.visibilityState === 'visible');
    const inSight = (await Promise.all(looking.map(({ answer }) => answer))).includes(true);
    const allowed = Notification.permission === 'granted' && (await getFact('notify')) !== false;
    // Should this worker have been stopped right after it showed one, it stands there already.
    const shown = await self.registration.getNotifications({ tag: key });
    if (!inSight && allowed && shown.length === 0)
      await self.registration.showNotification(result.title, {
        body: result.body,
        tag: key,
        lang: 'zh-CN',
        icon: '/icons/icon-192.png',
        badge: '/icons/badge-96.png',
        data: { url: result.url },
      });
  }
  // Only now: a worker that is stopped before this tells it at its next wake-up.
  await noteTold(key);
  await showBadge();
};

/** Tells what ended: in the tabs, else by a notification. One after the other, so that none is told twice. */
export const conclude = (result: WaitResult): Promise<void> => {
  const next = telling.then(() => tell(result));
  telling = next.catch(() => undefined);
  return next;
};

/** Leads a tab, or a new one, to an address of the app. */
export const follow = async (url: string): Promise<void> => {
  const all = await tabs();
  const session = new URL(url, self.location.origin).searchParams.get('uuid');
  const there = all.find((tab) => new URL(tab.url).searchParams.get('uuid') === session);
  const tab = there ?? all.find((each) => each.focused) ?? all[0];
  if (!tab) {
    await self.clients.openWindow(url);
    return;
  }
  const focused = await tab.focus().catch(() => tab);
  // A tab that is only just loading, or of an old version, is led there by its address.
  if (!(await ask(focused, { type: 'open', url })))
    await focused.navigate(url).catch(() => self.clients.openWindow(url));
};
