import { limits } from '#contract/limits.ts';
import type { WaitKind, WaitRef, WaitResult } from '#contract/wait.ts';
import type { ToWorker, Wait } from '#sw/messages.ts';
import { api } from './api.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { onWorkerMessage, workerReady } from './pwa.ts';
import { refreshScreens } from './query-client.ts';
import { toast } from '#src/platform/toast.ts';
import { waiting } from './waiting.ts';
import { keepPushed, offerNotifications } from './waits-permission.ts';

/**
 * What people wait for: this page asks while it is in sight; when it is hidden, closed or offline
 * the worker does, and the server pushes. Loaded once the first screen stands.
 */

const tickMs = 2_000;
/** How often the worker asks, ms. */
const paces: Record<WaitKind, number> = {
  answer: 5_000,
  job: limits.jobPolling,
  order: 5_000,
  news: 60_000,
  membership: 60_000,
  invoice: 60_000,
};
/** Nothing is written or drawn for longer than this, ms. */
const longest = 15 * 60_000;
/** From here on it is worth offering to tell people, ms. */
const longWait = 12_000;

/** Of a title, in a line that says what has ended. */
const titleMost = 24;
/** How long the worker may take to forget an account, ms. */
const settle = 5_000;

let registration: ServiceWorkerRegistration | undefined;
/** What the worker looks after now. */
const handed = new Set<string>();
let asking = false;
let nextAsk = 0;
let address = '';

const refOf = (key: string): WaitRef => {
  const cut = key.indexOf(':');
  return { kind: key.slice(0, cut) as WaitKind, id: key.slice(cut + 1) };
};
const isAway = () => document.visibilityState === 'hidden' || !navigator.onLine;
const say = (message: ToWorker) => registration?.active?.postMessage(message);
const sessionOf = (url: string) => new URL(url, location.origin).searchParams.get('uuid');

const handOver = (): void => {
  const { token } = authStore.get();
  const keys = [...waiting.keys()].filter((key) => !handed.has(key));
  if (!registration?.active || token === '' || keys.length === 0) return;
  const waits = keys.map((key): Wait => {
    const ref = refOf(key);
    const since = waiting.get(key) ?? Date.now();
    return { ...ref, since, every: paces[ref.kind], deadline: since + longest };
  });
  for (const key of keys) handed.add(key);
  say({ type: 'waits-over', waits, token });
};

const takeBack = (): void => {
  if (handed.size > 0) say({ type: 'waits-back', waits: [...handed].map(refOf) });
  handed.clear();
};

type Open = (url: string) => void;

/** Says what has ended, unless it is on screen anyway. */
const tell = ({ kind, state, title, body, url }: WaitResult, open: Open): void => {
  if (location.pathname === '/chat' && sessionOf(url) === sessionOf(location.href)) return;
  const words = kind === 'answer' && state === 'done' ? '回复写好了' : body;
  const about = Array.from(title).slice(0, titleMost).join('');
  toast(`${about}${about === title ? '' : '…'}：${words}`, state === 'done' ? 'success' : 'error', {
    label: '查看',
    run: () => open(url),
  });
};

/** Asks how everything stands; whatever reads it itself is usually first. */
const ask = async (open: Open): Promise<void> => {
  if (asking || waiting.size === 0 || authStore.get().token === '') return;
  asking = true;
  try {
    const waits = [...waiting.keys()].slice(0, 50).map(refOf);
    const { results } = await api.waitStatus({ waits }, { quiet: true });
    let ended = false;
    for (const result of results) {
      if (result.state === 'pending' || !waiting.delete(`${result.kind}:${result.id}`)) continue;
      ended = true;
      if (result.state !== 'gone') tell(result, open);
    }
    if (ended) void refreshScreens();
  } catch {
    // No network, or no server for now: the next tick asks again.
  } finally {
    asking = false;
    nextAsk = Date.now() + limits.jobPolling;
  }
};

/** What is on screen need not be announced any more. */
const closeSeen = async (): Promise<void> => {
  const shown = (await registration?.getNotifications()) ?? [];
  const session = sessionOf(location.href);
  let left = 0;
  for (const each of shown) {
    const { url = '/' } = (each.data ?? {}) as { url?: string };
    if (session !== null && sessionOf(url) === session) each.close();
    else left += 1;
  }
  if (left === 0) await navigator.clearAppBadge?.();
};

/** @param open leads to an address of this page */
export const startWaits = (open: Open): void => {
  /** Comes back into sight, or goes out of it. */
  const turn = (): void => {
    if (isAway()) return handOver();
    const [waited] = handed;
    takeBack();
    address = '';
    void ask(open);
    if (waited !== undefined) offerNotifications(refOf(waited).kind);
  };
  const tick = (): void => {
    if (isAway()) return handOver();
    if (location.href !== address) {
      address = location.href;
      closeSeen().catch(() => undefined);
    }
    if (waiting.size === 0) return;
    if (Date.now() >= nextAsk) void ask(open);
    for (const [key, since] of waiting)
      if (Date.now() - since > longWait) offerNotifications(refOf(key).kind);
  };

  onWorkerMessage((message, port) => {
    if (message.type === 'open') {
      port?.postMessage(true);
      open(message.url);
    } else if (message.type === 'wait-ended') {
      const { result } = message;
      const key = `${result.kind}:${result.id}`;
      waiting.delete(key);
      handed.delete(key);
      const inSight = document.visibilityState === 'visible';
      port?.postMessage(inSight);
      if (inSight) tell(result, open);
      void refreshScreens();
    }
  });
  document.addEventListener('visibilitychange', turn);
  addEventListener('pagehide', handOver);
  addEventListener('pageshow', turn);
  addEventListener('online', turn);
  addEventListener('offline', turn);
  setInterval(tick, tickMs);

  const push = () => void keepPushed().catch(() => undefined);
  let account = accountOf(authStore.get().token);
  authStore.subscribe(() => {
    const now = accountOf(authStore.get().token);
    if (now === account) return;
    account = now;
    waiting.clear();
    handed.clear();
    // After what belonged to the former account is gone from the worker.
    setTimeout(push, settle);
  });
  const begin = async (): Promise<void> => {
    registration = await workerReady();
    push();
    turn();
  };
  void begin();
};
