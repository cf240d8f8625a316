import { useCallback, useSyncExternalStore } from 'react';

const prefix = 'queqiao.draft.';
/** What this page has read and written: the text survives here when storage is full or forbidden. */
const texts = new Map<string, string>();
const listeners = new Set<() => void>();
const clearing = new Set<() => void>();

/** Tells those who keep more of a draft than its text that nothing of it may stay. */
export const onDraftsCleared = (listener: () => void): void => {
  clearing.add(listener);
};

/** What was typed and not sent, kept in this browser until it is sent or emptied. */
export const readDraft = (key: string): string => {
  let text = texts.get(key);
  if (text === undefined) {
    try {
      text = localStorage.getItem(prefix + key) ?? '';
    } catch {
      text = '';
    }
    texts.set(key, text);
  }
  return text;
};

export const writeDraft = (key: string, text: string) => {
  texts.set(key, text);
  try {
    if (text === '') localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, text);
  } catch {
    // Full or forbidden storage: the text lives as long as the page.
  }
  for (const listener of listeners) listener();
};

/** Nothing that a person wrote stays in this browser after a logout. */
export const clearDrafts = () => {
  texts.clear();
  try {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(prefix)) localStorage.removeItem(key);
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
