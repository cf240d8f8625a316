import type { PlainCallName } from '@contract/calls.ts';
import { forgetPictures } from './first-view.ts';
import { lazyChunk } from './markdown/lazy-chunk.ts';
import { createStore, useStore } from './store.ts';

/**
 * What was read is kept in this browser and answers when the network is gone: session lists, search,
 * the messages of sessions that were opened, models, settings, help. This part is small and on the first path; the
 * database comes with `cache-store.ts`, long after the first paint or when it is needed.
 */
export const databaseName = 'queqiao-cache';

/** Answers of calls, oldest first, that are still to be kept. */
type Heard = [name: PlainCallName, input: unknown, data: unknown];
const waiting: Heard[] = [];
const kept: ReadonlySet<PlainCallName> = new Set([
  'sessionList',
  'getSession',
  'historyList',
  'lastMessages',
  'models',
  'userInfo',
  'scenarioList',
  'scenarioCategory',
  'embeddingList',
  'helpList',
  'helpPage',
  'siteInfo',
  'deleteSession',
  'deleteHistory',
]);
/** How long after the first answer they are written down, ms; then once the page has nothing to do. */
const writeAfter = 4_000;
const mostIdle = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export const loadStore = lazyChunk(() => import('./cache-store.ts'));
let used = false;

const write = async () => {
  timer = undefined;
  const heard = waiting.splice(0);
  used = true;
  await (await loadStore()).keep(heard);
};

const writeQuietly = () => {
  if (waiting.length > 0) write().catch(() => undefined);
};
// A page that is put away may not come back.
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden' && used) writeQuietly();
});

/** Takes note of a call's answer. Never throws: without a cache everything works but offline reading. */
export const noteAnswer = (name: PlainCallName, input: unknown, data: unknown): void => {
  if (!kept.has(name) || typeof indexedDB === 'undefined') return;
  if (offline.get()) offline.set(false);
  if (name.startsWith('delete')) forgetPictures();
  waiting.push([name, input, data]);
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
  clearTimeout(timer);
  timer = undefined;
  offline.set(false);
  forgetPictures();
  if (typeof indexedDB === 'undefined') return;
  if (used)
    void loadStore().then(
      (store) => store.clear(),
      () => undefined,
    );
  else indexedDB.deleteDatabase(databaseName);
};
