import type { WaitRef, WaitResult } from '#contract/wait.ts';
import { getFact, setFact } from './kv.ts';
import { waitsTag, type Wait } from './messages.ts';
import { pause, type SyncEvent } from './sync.ts';
import { conclude, follow, showBadge } from './telling.ts';
import { changeBook, drop, keyOf, readBook } from './wait-book.ts';

declare const self: ServiceWorkerGlobalScope;

interface Syncing {
  sync?: { register: (tag: string) => Promise<void> };
}

/** How long one wake-up goes on looking, ms: browsers end a worker after some five minutes. */
const awake = 240_000;
/** The same for a sync, for which they give less. */
const awakeInSync = 50_000;

/** Of this origin, however it is written: a browser reads `/\t/elsewhere` as another's address. */
const isOwn = (url: unknown): url is string => {
  if (typeof url !== 'string' || !url.startsWith('/')) return false;
  try {
    return new URL(url, self.location.origin).origin === self.location.origin;
  } catch {
    return false;
  }
};

/** What of a wait this is allowed to say; a push may hold anything. */
const isResult = (value: unknown): value is WaitResult => {
  const { kind, id, state, title, body, url } = (value ?? {}) as Record<string, unknown>;
  return (
    [kind, id, title, body].every((each) => typeof each === 'string') &&
    (state === 'done' || state === 'failed') &&
    isOwn(url)
  );
};

/** Null: no network, or no server. */
const call = async (name: string, input: object): Promise<Response | null> => {
  const token = await getFact('token');
  if (!token) return null;
  return fetch(`/api/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(input),
  }).catch(() => null);
};

/** Asks the server how they stand; false when there was no answer. */
const askServer = async (waits: readonly Wait[]): Promise<boolean> => {
  const response = await call('wait_status', {
    waits: waits.map(({ kind, id }) => ({ kind, id })),
  });
  // The login is over: nobody will ever answer.
  if (response?.status === 401) await drop(waits.map(keyOf));
  if (!response?.ok) return false;
  const { data } = (await response.json()) as { data: { results: WaitResult[] } | null };
  for (const result of data?.results ?? []) {
    if (result.state === 'gone') await drop([keyOf(result)]);
    else if (isResult(result)) await conclude(result);
  }
  return data !== null;
};

/** Where there is Background Sync, the browser wakes the worker again once there is a network. */
const wakeAgain = async (): Promise<void> => {
  const { sync } = self.registration as ServiceWorkerRegistration & Syncing;
  await sync?.register(waitsTag).catch(() => undefined);
};

/** Tells the server what to push to this browser, if it takes pushes. */
const watch = async (): Promise<void> => {
  const [pushed, device, book] = await Promise.all([
    getFact('pushed'),
    getFact('device'),
    readBook(),
  ]);
  const waits = Object.values(book.pending).map(({ kind, id }) => ({ kind, id }));
  if (!pushed || !device || (waits.length === 0 && !book.watched)) return;
  const response = await call('watch_waits', { device, waits: waits.slice(0, 50) });
  // The server does not know this browser any more: the page registers it anew.
  if (response?.status === 404) await setFact('pushed', undefined);
  if (response?.ok)
    await changeBook((fresh) => {
      fresh.watched = waits.length > 0;
    });
};

type SubscriptionChange = ExtendableEvent & { oldSubscription?: PushSubscription | null };

/** The browser gave the subscription another address: the server is told, page or no page. */
const renew = async (change: SubscriptionChange): Promise<void> => {
  const [pushed, device] = await Promise.all([getFact('pushed'), getFact('device')]);
  const options = change.oldSubscription?.options;
  if (!pushed || !device || !options) return setFact('pushed', undefined);
  const fresh = await self.registration.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: options.applicationServerKey,
  });
  const { endpoint, keys } = fresh.toJSON();
  const response = await call('push_subscribe', { device, endpoint, keys });
  // Otherwise the page does it when it is next opened.
  return setFact(
    'pushed',
    response?.ok ? { ...pushed, endpoint: fresh.endpoint, at: Date.now() } : undefined,
  );
};

/**
 * What ends while no page is in sight. The waits stand in IndexedDB, for the worker is stopped and
 * started as the browser likes: every wake-up, whatever it was for, goes on with them.
 */
export const startWaits = () => {
  /** When the next wake-up has something to do, ms since 1970; 0: not known yet. */
  let nextLook = 0;
  let looking: Promise<boolean> | undefined;
  /** Gives whether nothing is left to wait for. */
  const look = async (until: number): Promise<boolean> => {
    const asked = new Map<string, number>();
    for (;;) {
      const { pending } = await readBook();
      const late = Object.keys(pending).filter((key) => pending[key]!.deadline < Date.now());
      if (late.length > 0) await drop(late);
      const waits = Object.values(pending).filter((wait) => !late.includes(keyOf(wait)));
      if (waits.length === 0) {
        nextLook = Infinity;
        return true;
      }
      const dueAt = (wait: Wait) => (asked.get(keyOf(wait)) ?? 0) + wait.every;
      const due = waits.filter((wait) => dueAt(wait) <= Date.now()).slice(0, 50);
      if (due.length > 0) {
        for (const wait of due) asked.set(keyOf(wait), Date.now());
        if (!(await askServer(due))) {
          nextLook = Date.now() + Math.min(...waits.map(({ every }) => every));
          return false;
        }
        continue;
      }
      const next = Math.min(...waits.map(dueAt));
      nextLook = next;
      if (next > until) return false;
      // More may be handed over meanwhile.
      await pause(Math.min(2000, Math.max(250, next - Date.now())));
    }
  };

  /** Looks after what is waited for; gives whether nothing is left. */
  const tend = (ms = awake): Promise<boolean> => {
    looking ??= look(Date.now() + ms).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const tendQuietly = (): Promise<void> =>
    tend().then(
      (done) => (done ? undefined : wakeAgain()),
      () => undefined,
    );

  /** What tabs say is done in the order they said it: hidden and shown again is no time at all. */
  let saying: Promise<unknown> = Promise.resolve();
  const inOrder = (act: () => Promise<void>): Promise<void> => {
    const next = saying.then(act);
    saying = next.catch(() => undefined);
    return next;
  };

  const takeOver = async (waits: readonly Wait[], token: string): Promise<void> => {
    await inOrder(async () => {
      await setFact('token', token);
      await changeBook((book) => {
        for (const wait of waits) {
          const key = keyOf(wait);
          if ((book.told[key] ?? 0) >= wait.since) continue;
          delete book.told[key];
          book.pending[key] = wait;
        }
      });
      await watch();
    });
    await wakeAgain();
    await tendQuietly();
  };

  const giveBack = (waits: readonly WaitRef[]): Promise<void> =>
    inOrder(async () => {
      await drop(waits.map(keyOf));
      await watch();
      await showBadge();
    });

  self.addEventListener('push', (event) => {
    const told = async (): Promise<void> => {
      let result: unknown;
      try {
        result = event.data?.json();
      } catch {
        return;
      }
      if (isResult(result)) await conclude(result);
    };
    event.waitUntil(told().then(tendQuietly));
  });

  self.addEventListener('notificationclick', (event) => {
    const { notification } = event;
    notification.close();
    const { url } = (notification.data ?? {}) as { url?: unknown };
    event.waitUntil(Promise.all([follow(isOwn(url) ? url : '/'), showBadge()]).then(tendQuietly));
  });
  self.addEventListener('notificationclose', (event) => event.waitUntil(showBadge()));

  self.addEventListener('pushsubscriptionchange', (event) => {
    const change = event as SubscriptionChange;
    change.waitUntil(renew(change).catch(() => setFact('pushed', undefined)));
  });

  const onSync = (event: Event): void => {
    const sync = event as SyncEvent;
    if (sync.tag !== waitsTag) return;
    sync.waitUntil(
      // A sync that fails is tried again later by the browser.
      tend(awakeInSync).then((done) => (done ? done : Promise.reject(new Error('still waiting')))),
    );
  };
  self.addEventListener('sync', onSync);
  self.addEventListener('periodicsync', onSync);
  self.addEventListener('activate', (event) => event.waitUntil(tendQuietly()));
  // Whatever a page asks for is an occasion as well; it does not wait for this.
  self.addEventListener('fetch', (event) => {
    if (!looking && nextLook <= Date.now()) event.waitUntil(tendQuietly());
  });

  return {
    takeOver,
    giveBack,
    /** The person left: nothing of theirs stays in sight, and nothing more of it comes. */
    forget: async (): Promise<void> => {
      const subscription = await self.registration.pushManager?.getSubscription();
      await subscription?.unsubscribe();
      for (const notification of await self.registration.getNotifications()) notification.close();
      await showBadge();
    },
  };
};
