import { databaseName } from './cache-name.ts';
import type { PlainCallName } from '#contract/calls.ts';
import type { Message } from '#contract/chat.ts';
import type { SessionDetail } from '#contract/session.ts';
import { accountOf } from './account-of.ts';
import { sleep } from './sleep.ts';
import { authStore } from './auth-store.ts';
import { forgetSnapshots } from './snapshot.ts';
import { lazyChunk } from '#src/platform/lazy-chunk.ts';

/**
 * What was read is kept in this browser and answers when the network does not: session lists, search,
 * the messages of sessions that were opened, and what each screen showed last. This part is small and
 * on the first path; the database comes with `cache-store.ts`, long after the first paint or when it
 * is needed.
 */

/** Answers of calls, oldest first, that are still to be kept. */
type Heard = [name: PlainCallName, input: unknown, data: unknown, asker: string];
const waiting: Heard[] = [];
/** Those that are being written down: a page that goes away takes the write with it. */
let writing: readonly Heard[] = [];
const kept: ReadonlySet<PlainCallName> = new Set([
  'sessionList',
  'getSession',
  'historyList',
  'lastMessages',
  'deleteSession',
  'deleteAllSession',
  'deleteHistory',
  // What each screen showed last, as it is.
  'models',
  'modelHealth',
  'siteInfo',
  'userInfo',
  'scenarioList',
  'scenarioCategory',
  'embeddingList',
  'helpList',
  'helpPage',
  'imageIndex',
  'imageExplore',
  'imageInfo',
  'deleteImage',
  'imageMetadata',
  'keywordList',
  'videoIndex',
  'jobList',
  'noticeInfo',
  'noticeList',
  'newsList',
  'forumGroups',
  'promptList',
  'trainModelList',
  'translateModelList',
  'trainEngines',
  'trainModel',
  'trainFileList',
  'segmentList',
  'knowledgePassage',
  'appList',
  'appDetails',
  'appVersionNext',
  'appCommentNext',
  'sharedSession',
  'usage',
  'transactionList',
  'tradeList',
  'invoiceList',
  'inviteInfo',
  'inviteList',
  'paymentInfo',
  'apiUsage',
]);
const isKept = (name: PlainCallName): boolean => kept.has(name);

/** How long after the first answer they are written down, ms; then once the page has nothing to do. */
const writeAfter = 800;
const mostIdle = 5_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export const loadStore = lazyChunk(() => import('./cache-store.ts'));
let used = false;
/** Something may be kept here: it is not the first visit. */
export const hasStore = (): boolean =>
  used || authStore.get().token !== '' || Boolean(globalThis.navigator?.serviceWorker?.controller);

/** What a page heard in its last seconds, left where a page that goes away can still put it. */
const journalKey = 'queqiao.heard';
/** Characters of it; more would crowd out what is written in boxes. */
const journalMost = 1_000_000;

/** Takes what the page before this one left. */
const takeJournal = (): void => {
  const text = globalThis.localStorage?.getItem(journalKey);
  if (!text) return;
  localStorage.removeItem(journalKey);
  try {
    waiting.unshift(...(JSON.parse(text) as Heard[]));
  } catch {
    // Not ours.
  }
};

const leaveJournal = (): void => {
  if (waiting.length === 0 && writing.length === 0) return;
  // What the page before this one left is not lost when this one goes as soon.
  takeJournal();
  const heard = [...writing, ...waiting];
  const text = JSON.stringify(heard);
  try {
    if (text.length <= journalMost) localStorage.setItem(journalKey, text);
  } catch {
    // Full or forbidden: it is read again when there is a network.
  }
};

/** As many answers wait for a store that can not be had. */
const mostWaiting = 200;
let last: Promise<void> = Promise.resolve();
const writeNow = async () => {
  takeJournal();
  const heard = waiting.splice(0);
  if (heard.length === 0) return;
  used = true;
  writing = heard;
  try {
    await (await loadStore()).keep(heard);
  } catch (error) {
    // Its code may be out of reach just now: the next one takes these along.
    waiting.unshift(...heard.slice(-mostWaiting));
    throw error;
  } finally {
    writing = [];
  }
};
/** One after the other: what comes meanwhile goes together. */
const write = (): Promise<void> => {
  clearTimeout(timer);
  timer = undefined;
  last = last.catch(() => undefined).then(writeNow);
  return last;
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

/** Sessions of which nothing is left on the device, not even that they were. */
const temporary = new Set<string>();
const refIn = (input: unknown): string => {
  type Ref = string | number | undefined;
  const { session_id: id, sessionId } = input as { session_id?: Ref; sessionId?: Ref };
  return String(id ?? sessionId ?? '').toLowerCase();
};
const isTemporary = (name: PlainCallName, input: unknown, data: unknown): boolean => {
  if (name === 'getSession' && (data as SessionDetail).temporary) {
    const { uuid } = data as SessionDetail;
    temporary.add(uuid);
    const others = waiting.filter(([, asked]) => refIn(asked) !== uuid);
    waiting.splice(0, waiting.length, ...others);
    return true;
  }
  return temporary.has(refIn(input));
};

/**
 * Takes note of a call's answer. Never throws: without a cache everything works but offline reading.
 * @param asker the account that asked: another one may be here by now
 */
export const noteAnswer = (
  name: PlainCallName,
  input: unknown,
  data: unknown,
  asker: string,
): void => {
  if (!isKept(name) || typeof indexedDB === 'undefined') return;
  if (isTemporary(name, input, data)) return;
  if (name.startsWith('delete')) forgetSnapshots();
  waiting.push([name, input, data, asker]);
  // The end of a reply is kept at once, by then the page has long been drawn, and what was deleted
  // is forgotten at once. A store that is at hand needs no rest.
  if (used || name === 'lastMessages' || name.startsWith('delete')) {
    writeQuietly();
    return;
  }
  timer ??= setTimeout(() => {
    if (typeof requestIdleCallback === 'function')
      requestIdleCallback(writeQuietly, { timeout: mostIdle });
    else writeQuietly();
  }, writeAfter);
};

/** Messages as they are being read, by their number, until they are written down. */
const reading = new Map<number, Heard>();

/** Keeps a message as it is read here just now, with all that was heard before. */
export const keepMessage = (session: string, message: Message): void => {
  if (typeof indexedDB === 'undefined') return;
  const reader = accountOf(authStore.get().token);
  const heard: Heard = ['historyList', { session_id: session }, { list: [message] }, reader];
  const before = waiting.indexOf(reading.get(message.id) ?? heard);
  if (before < 0) waiting.push(heard);
  else waiting[before] = heard;
  if (message.state === 'streaming') reading.set(message.id, heard);
  else reading.delete(message.id);
  writeQuietly();
};

/** Settles once what was heard so far, and what is made of it right now, is written down or can not be. */
export const heardIsKept = async (): Promise<void> => {
  await sleep(0);
  await last.catch(() => undefined);
};

/** The answer of a reading call from what was kept; undefined: nothing fits. */
export const answerFromCache = async (name: PlainCallName, input: unknown): Promise<unknown> => {
  if (!isKept(name) || name.startsWith('delete')) return undefined;
  try {
    takeJournal();
    // Where there is no room for what was heard last, the rest is still there.
    if (waiting.length > 0) await write().catch(() => undefined);
    return await (await loadStore()).answer(name, input);
  } catch {
    // No database, or its chunk is out of reach as well.
    return undefined;
  }
};

/** Nothing that a person read stays here after a logout or for another account. */
export const clearCache = (): void => {
  waiting.length = 0;
  writing = [];
  globalThis.localStorage?.removeItem(journalKey);
  clearTimeout(timer);
  timer = undefined;
  forgetSnapshots();
  if (typeof indexedDB === 'undefined') return;
  if (used)
    void loadStore().then(
      (store) => store.clear(),
      () => undefined,
    );
  else indexedDB.deleteDatabase(databaseName);
};
