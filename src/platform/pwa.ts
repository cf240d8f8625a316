import { clearFacts } from '#sw/kv.ts';
import { personalCaches, type FromWorker, type ToWorker } from '#sw/messages.ts';
import { Workbox } from 'workbox-window';
import { busyStore } from './busy.ts';
import { createStore, useStore } from './store.ts';

/**
 * The page's side of the service worker. Loaded once the first screen stands (src/app/main.tsx):
 * import it dynamically from whatever is on the first path.
 */

const supported = import.meta.env.PROD && 'serviceWorker' in navigator;
const worker = supported ? new Workbox('/sw.js') : undefined;

/** A new version waits for the person's consent. */
const updateReady = createStore(false);
export const useUpdateReady = (): boolean => useStore(updateReady);

type Listener = (message: FromWorker, port: MessagePort | undefined) => void;
const listeners = new Set<Listener>();
/** Hears the worker until the returned function is called; it awaits an answer on the port. */
export const onWorkerMessage = (listener: Listener): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Says something to the active worker. Nothing happens where there is none. */
export const tellWorker = async (message: ToWorker): Promise<void> => {
  if (!supported) return;
  const registration = await navigator.serviceWorker.getRegistration();
  registration?.active?.postMessage(message);
};

/** The worker's registration once it is active; never settles where there is no worker. */
export const workerReady = (): Promise<ServiceWorkerRegistration> =>
  supported ? navigator.serviceWorker.ready : new Promise(() => undefined);

/** This tab took the new version itself. */
let taking = false;

/** How often an open page looks for a new version, ms. */
const lookEvery = 30 * 60_000;

/** Registers the worker and follows it. Fails quietly: without it the page works online. */
export const startPwa = async (): Promise<void> => {
  if (!worker) return;
  navigator.serviceWorker.addEventListener(
    'message',
    ({ data, ports }: MessageEvent<FromWorker>) => {
      for (const listener of listeners) listener(data, ports[0]);
    },
  );
  worker.addEventListener('waiting', () => updateReady.set(true));
  // Another tab took the new version: this one goes on with its own files until it is loaded anew.
  const controlled = navigator.serviceWorker.controller !== null;
  worker.addEventListener('controlling', () => {
    if (taking) location.reload();
    else if (controlled) updateReady.set(true);
  });
  const look = () => void worker.update().catch(() => undefined);
  setInterval(look, lookEvery);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') look();
  });
  await worker.register({ immediate: true }).catch(() => undefined);
};

const idle = (): boolean => busyStore.get().replies === 0 && busyStore.get().uploads === 0;

/**
 * The person agreed: the new version takes over and this page is loaded anew with it, as soon as
 * no reply is being read and nothing is being sent here.
 */
export const takeUpdate = async (): Promise<void> => {
  if (!idle())
    await new Promise<void>((resolve) => {
      const end = busyStore.subscribe(() => {
        if (!idle()) return;
        end();
        resolve();
      });
    });
  taking = true;
  const registration = await navigator.serviceWorker.getRegistration();
  const message: ToWorker = { type: 'take-update' };
  registration?.waiting?.postMessage(message);
  if (!registration?.waiting) location.reload();
};

/** After a logout: nothing of the person stays in the worker, its caches or its facts. */
export const forgetPerson = async (): Promise<void> => {
  await Promise.allSettled([
    tellWorker({ type: 'forget' }),
    clearFacts(),
    ...personalCaches.map((name) => caches.delete(name)),
  ]);
};
