import { useCallback, useSyncExternalStore } from 'react';
import { type Draft, echoedKeys, readEcho, removeEcho, writeEcho } from './draft-echo.ts';
import { noteStamp, stamp } from './stamp.ts';

/** What this page has read and written: the text survives here when storage is full or forbidden. */
const texts = new Map<string, string>();
const listeners = new Set<() => void>();
const clearing = new Set<() => void>();

/** Tells those who keep more of a draft than its text that nothing of it may stay. */
export const onDraftsCleared = (listener: () => void): void => {
  clearing.add(listener);
};

/**
 * What was typed and not sent, kept in this browser until it is sent or emptied: in the outbox's
 * database, and as an echo where it can be read at once.
 */
export const readDraft = (key: string): string => {
  let text = texts.get(key);
  if (text === undefined) {
    text = readEcho(key)?.text ?? '';
    texts.set(key, text);
  }
  return text;
};

/** Longer ones are echoed when the keys rest for a moment, ms; each echo writes all of the text. */
const longText = 8_000;
const echoAfter = 150;
/** How long after a change it is written into the database, ms. */
const keepAfter = 400;

type Save = (changed: ReadonlyMap<string, Draft>) => Promise<void>;
/** Changed since they were kept; the outbox's database comes later than the first keys. */
const changed = new Map<string, Draft>();
const echoes = new Map<string, ReturnType<typeof setTimeout>>();
let save: Save | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The last keys are in the storage that needs no waiting: nothing is lost when the page is killed. */
const echo = (key: string) => {
  clearTimeout(echoes.get(key));
  echoes.delete(key);
  // One that was emptied says so until the database has heard of it.
  writeEcho(key, { text: texts.get(key) ?? '', at: changed.get(key)?.at ?? stamp() });
};

const keep = async () => {
  clearTimeout(timer);
  timer = undefined;
  for (const key of echoes.keys()) echo(key);
  if (!save || changed.size === 0) return;
  const batch = new Map(changed);
  changed.clear();
  try {
    await save(batch);
  } catch (error) {
    // What is kept of it is older now: it is written with the next keys.
    for (const [key, draft] of batch) if (!changed.has(key)) changed.set(key, draft);
    throw error;
  }
  for (const [key, { text }] of batch) if (text === '' && readDraft(key) === '') removeEcho(key);
};
const keepQuietly = () => void keep().catch(() => undefined);
const later = () => {
  timer ??= setTimeout(keepQuietly, keepAfter);
};
globalThis.addEventListener?.('pagehide', keepQuietly);
globalThis.document?.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') keepQuietly();
});

export const writeDraft = (key: string, text: string) => {
  if (texts.get(key) === text) return;
  texts.set(key, text);
  changed.set(key, { text, at: stamp() });
  if (text.length <= longText) echo(key);
  else if (!echoes.has(key)) echoes.set(key, setTimeout(echo, echoAfter, key));
  // A sent text that comes back after a crash would be sent twice.
  if (text === '') keepQuietly();
  else later();
  for (const listener of listeners) listener();
};

/** What this page's person wrote before its code was there: newer than all that was kept. */
export const takeDraft = (key: string, text: string): void => {
  readEcho(key);
  texts.delete(key);
  writeDraft(key, text);
};

/** From now on drafts are kept by `save`, too: begins with those that changed before. */
export const keepDraftsBy = (saveDrafts: Save): void => {
  save = saveDrafts;
  later();
};

/** All that is in this browser now, without waiting for the keys to rest. */
export const allDrafts = (): ReadonlyMap<string, Draft> => {
  for (const key of echoes.keys()) echo(key);
  const all = new Map<string, Draft>();
  for (const [key, text] of texts) all.set(key, { text, at: readEcho(key)?.at ?? stamp() });
  try {
    for (const key of echoedKeys()) {
      const echoed = all.has(key) ? null : readEcho(key);
      if (echoed) all.set(key, echoed);
    }
  } catch {
    // Forbidden storage holds nothing.
  }
  return all;
};

/** What a page that was left in haste could still echo, and the database has not heard of. */
const echoedSince = (kept: ReadonlyMap<string, Draft>): [key: string, draft: Draft][] => {
  try {
    return echoedKeys().flatMap((key) => {
      const echoed = readEcho(key);
      return echoed && echoed.at > (kept.get(key)?.at ?? -1) ? [[key, echoed]] : [];
    });
  } catch {
    // Forbidden storage holds nothing.
    return [];
  }
};

/**
 * Brings back what the database has and the quick storage does not: it had no room, or the browser
 * was killed before it wrote it to the disk. What only the latter has is kept in both again.
 */
export const restoreDrafts = (kept: Iterable<readonly [key: string, draft: Draft]>): void => {
  const known = new Map(kept);
  for (const [key, { text, at }] of known) {
    noteStamp(at);
    if (!changed.has(key) && at > (readEcho(key)?.at ?? -1)) texts.set(key, text);
  }
  for (const [key, echoed] of echoedSince(known)) if (!changed.has(key)) changed.set(key, echoed);
  if (changed.size > 0) later();
  for (const listener of listeners) listener();
};

/** Nothing that a person wrote stays in sight after a logout, or for another account. */
export const clearDrafts = () => {
  texts.clear();
  changed.clear();
  for (const each of echoes.values()) clearTimeout(each);
  echoes.clear();
  try {
    for (const key of echoedKeys()) removeEcho(key);
  } catch {
    // Forbidden storage holds nothing.
  }
  for (const listener of clearing) listener();
  for (const listener of listeners) listener();
};

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
};

/** The text of a box, surviving the page. `key`: 'home' or a session's uuid. */
export const useDraft = (key: string): [string, (text: string) => void] => {
  const text = useSyncExternalStore(subscribe, () => readDraft(key));
  const set = useCallback((next: string) => writeDraft(key, next), [key]);
  return [text, set];
};
