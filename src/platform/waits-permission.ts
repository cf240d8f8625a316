import type { WaitKind } from '#contract/wait.ts';
import { changeFact, getFact, setFact } from '#sw/kv.ts';
import { waitsTag } from '#sw/messages.ts';
import { api } from './api.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { isApple, isStandalone } from './pwa-install.ts';
import { workerReady } from './pwa.ts';
import { createStore, useStore } from './store.ts';
import { uuid } from './uuid.ts';

/** The choice of this browser; empty: nobody has been asked; asked: and nobody has answered. */
const key = 'queqiao.notify';
const day = 24 * 3600_000;

const chosen = (): string => {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
};

/**
 * Whether people are told: on or off by choice; not asked yet; denied in the browser; or not
 * possible, on an iPhone only until the app is installed.
 */
export type NotifyState = 'on' | 'off' | 'unasked' | 'denied' | 'unsupported' | 'install';

const stateNow = (): NotifyState => {
  if (!('serviceWorker' in navigator) || typeof Notification === 'undefined')
    return isApple && !isStandalone() ? 'install' : 'unsupported';
  if (Notification.permission === 'denied') return 'denied';
  if (chosen() === 'off') return 'off';
  return Notification.permission === 'granted' ? 'on' : 'unasked';
};

const store = createStore<NotifyState>(stateNow());
export const useNotifyState = (): NotifyState => useStore(store);

/** Looks again: people change permissions in the browser, and in other tabs. */
export const lookAtPermission = (): NotifyState => {
  const now = stateNow();
  if (now !== store.get()) store.set(now);
  return now;
};

const keepChoice = (choice: 'on' | 'off' | 'asked'): void => {
  try {
    localStorage.setItem(key, choice);
  } catch {
    // The choice lasts as long as the page.
  }
};

const choose = async (on: boolean): Promise<void> => {
  keepChoice(on ? 'on' : 'off');
  lookAtPermission();
  await setFact('notify', on);
};

const deviceNumber = async (): Promise<string> => {
  const fresh = uuid();
  await changeFact('device', (known) => known ?? fresh);
  return (await getFact('device')) ?? fresh;
};

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );
const isSame = (buffer: ArrayBuffer | null | undefined, bytes: Uint8Array): boolean => {
  const known = new Uint8Array(buffer ?? new ArrayBuffer(0));
  return known.length === bytes.length && known.every((byte, at) => byte === bytes[at]);
};

/** Periodic Sync, which the library of types does not know. */
interface Periodic {
  periodicSync?: { register: (tag: string, options: { minInterval: number }) => Promise<void> };
}
/** As often as a browser may wake the worker of an installed app, ms; they take their time. */
const wakeEvery = 15 * 60_000;

/**
 * Has the server push to this browser, where the browser can: then people are told even when it
 * has stopped the worker. Once a day, and whenever something changed. Fails quietly: without it
 * the worker asks by itself for as long as it is allowed to live.
 */
export const keepPushed = async (): Promise<void> => {
  const account = accountOf(authStore.get().token);
  if (account === '' || lookAtPermission() !== 'on') return;
  const registration: ServiceWorkerRegistration & Periodic = await workerReady();
  // Only installed apps get it; the others are refused.
  registration.periodicSync?.register(waitsTag, { minInterval: wakeEvery }).catch(() => undefined);
  const { pushManager } = registration;
  if (!pushManager) return;
  const [pushed, held] = await Promise.all([getFact('pushed'), pushManager.getSubscription()]);
  const fresh =
    pushed?.account === account &&
    pushed.endpoint === held?.endpoint &&
    pushed.at > Date.now() - day;
  if (fresh) return;
  const serverKey = bytesOf((await api.pushKey({}, { quiet: true })).key);
  // Subscribed for another server's key, such as that of a database since replaced.
  const stale = held !== null && !isSame(held.options.applicationServerKey, serverKey);
  if (stale) await held.unsubscribe();
  const subscription =
    (stale ? null : held) ??
    (await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: serverKey }));
  const { endpoint, keys } = subscription.toJSON();
  await api.pushSubscribe(
    {
      device: await deviceNumber(),
      endpoint: endpoint ?? '',
      keys: { p256dh: keys?.['p256dh'] ?? '', auth: keys?.['auth'] ?? '' },
    },
    { quiet: true },
  );
  await setFact('pushed', { account, endpoint: subscription.endpoint, at: Date.now() });
};

/** Asks the browser for its permission: only as the answer to a tap. Gives how it stands then. */
export const turnOn = async (): Promise<NotifyState> => {
  const permission = await Notification.requestPermission();
  if (permission === 'granted') await choose(true);
  const state = lookAtPermission();
  if (state === 'on') keepPushed().catch(() => undefined);
  return state;
};

export const turnOff = async (): Promise<void> => {
  await choose(false);
  const device = await getFact('device');
  if (!(await getFact('pushed')) || !device) return;
  await setFact('pushed', undefined);
  const { pushManager } = await workerReady();
  await (await pushManager?.getSubscription())?.unsubscribe();
  await api.pushUnsubscribe({ device }, { quiet: true });
};

const offered = createStore<WaitKind | null>(null);
/** What people wait for and are asked whether they want to be told of; null: they are not asked. */
export const useOfferedKind = (): WaitKind | null => useStore(offered);
let hasOffered = false;
const offeredFor = 60_000;

/** Asks, once in this browser, whoever was never asked before. */
export const offerNotifications = (kind: WaitKind): void => {
  if (hasOffered || chosen() !== '' || lookAtPermission() !== 'unasked') return;
  hasOffered = true;
  keepChoice('asked');
  offered.set(kind);
  // Whoever does not answer is not pressed.
  setTimeout(() => offered.set(null), offeredFor);
};

/** The answer to that. Never rejects. */
export const answerOffer = async (yes: boolean): Promise<NotifyState> => {
  await (yes ? turnOn() : turnOff()).catch(() => undefined);
  offered.set(null);
  return lookAtPermission();
};
