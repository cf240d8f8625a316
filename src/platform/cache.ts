import { databaseName } from './cache-name.ts';
import type { PlainCallName } from '@contract/calls.ts';
import { accountOf } from './account-of.ts';
import { authStore } from './auth-store.ts';
import { forgetSnapshots } from './snapshot.ts';
import { lazyChunk } from '@/platform/lazy-chunk.ts';
import { createStore, useStore } from './store.ts';

/**
 * What was read is kept in this browser and answers when the network is gone: session lists, search,
 * the messages of sessions that were opened, models, settings, help. This part is small and on the first path; the
 * database comes with `cache-store.ts`, long after the first paint or when it is needed.
 */

/** Answers of calls, oldest first, that are still to be kept. */
type Heard = [name: PlainCallName, input: unknown, data: unknown];
const waiting: Heard[] = [];
const kept: ReadonlySet<PlainCallName> = new Set([
  'sessionList',
  'getSession',
  'historyList',
  'lastMessages',
  'models',
  'siteInfo',
  'userInfo',
  'scenarioList',
  'scenarioCategory',
  'embeddingList',
  'helpList',
  'helpPage',
  'deleteSession',
  'deleteAllSession',
  'deleteHistory',
  'imageIndex',
]);
/** Of galleries one's own is read without a network; what others show changes all the time. */
const isKept = (name: PlainCallName, input: unknown): boolean =>
  kept.has(name) && (name !== 'imageIndex' || (input as { private?: unknown }).private === 1);

/** How long after the first answer they are written down, ms; then once the page has nothing to do. */
const writeAfter = 800;
const mostIdle = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export const loadStore = lazyChunk(() => import('./cache-store.ts'));
let used = false;

/** What a page heard in its last seconds, left where a page that goes away can still put it. */
const journalKey = 'queqiao.heard';
/** Characters of it; more would crowd out what is written in boxes. */
const journalMost = 1_000_000;

const leaveJournal = (): void => {
  if (waiting.length === 0) return;
  const text = JSON.stringify({ account: accountOf(authStore.get().token), heard: waiting });
  try {
    if (text.length <= journalMost) localStorage.setItem(journalKey, text);
  } catch {
    // Full or forbidden: it is read again when there is a network.
  }
};

/** Takes what the page before this one left; another account's is dropped. */
const takeJournal = (): void => {
  const text = globalThis.localStorage?.getItem(journalKey);
  if (!text) return;
  localStorage.removeItem(journalKey);
  try {
    const left = JSON.parse(text) as { account: string; heard: Heard[] };
    if (left.account === accountOf(authStore.get().token)) waiting.unshift(...left.heard);
  } catch {
    // Not ours.
  }
};

const write = async () => {
  timer = undefined;
  takeJournal();
  const heard = waiting.splice(0);
  used = true;
  await (await loadStore()).keep(heard);
};

const writeQuietly = () => {
  if (waiting.length > 0) write().catch(() => undefined);
};
// A page that is put away may not come back.
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState !== 'hidden') return;
  if (used) writeQuietly();
  else leaveJournal();
});
globalThis.addEventListener?.('pagehide', leaveJournal);

/** Takes note of a call's answer. Never throws: without a cache everything works but offline reading. */
export const noteAnswer = (name: PlainCallName, input: unknown, data: unknown): void => {
  if (!isKept(name, input) || typeof indexedDB === 'undefined') return;
  if (offline.get()) offline.set(false);
  if (name.startsWith('delete')) forgetSnapshots();
  waiting.push([name, input, data]);
  // The end of a reply is kept at once, by then the page has long been drawn, and what was deleted
  // is forgotten at once.
  if (name === 'lastMessages' || name.startsWith('delete')) {
    clearTimeout(timer);
    writeQuietly();
    return;
  }
  timer ??= setTimeout(() => {
    if (typeof requestIdleCallback === 'function')
      requestIdleCallback(writeQuietly, { timeout: mostIdle });
    else writeQuietly();
  }, writeAfter);
};

const offline = createStore(false);
/** What is on screen was answered from the cache, for want of a network. */
export const useShownFromCache = (): boolean => useStore(offline);

/** The answer of a reading call from what was kept; undefined: nothing fits. */
export const answerFromCache = async (name: PlainCallName, input: unknown): Promise<unknown> => {
  if (!kept.has(name) || name.startsWith('delete')) return undefined;
  try {
    takeJournal();
    if (waiting.length > 0) {
      clearTimeout(timer);
      await write();
    }
    const answer = await (await loadStore()).answer(name, input);
    if (answer !== undefined) offline.set(true);
    return answer;
  } catch {
    // No database, or its chunk is out of reach as well.
    return undefined;
  }
};

/** Nothing that a person read stays here after a logout or for another account. */
export const clearCache = (): void => {
  waiting.length = 0;
  globalThis.localStorage?.removeItem(journalKey);
  clearTimeout(timer);
  timer = undefined;
  offline.set(false);
  forgetSnapshots();
  if (typeof indexedDB === 'undefined') return;
  if (used)
    void loadStore().then(
      (store) => store.clear(),
      () => undefined,
    );
  else indexedDB.deleteDatabase(databaseName);
};
