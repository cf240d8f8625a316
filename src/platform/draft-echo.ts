import { noteStamp } from './stamp.ts';

/** A text and when it was written, by `stamp`. */
export interface Draft {
  text: string;
  at: number;
}

const prefix = 'queqiao.draft.';

/** What is echoed under a key, in the storage that needs no waiting; null: nothing. */
export const readEcho = (key: string): Draft | null => {
  try {
    const value = localStorage.getItem(prefix + key);
    if (value === null) return null;
    const [, at = '0', text = value] = /^(\d+):([^]*)$/.exec(value) ?? [];
    noteStamp(Number(at));
    return { text, at: Number(at) };
  } catch {
    return null;
  }
};

export const removeEcho = (key: string): void => {
  try {
    localStorage.removeItem(prefix + key);
  } catch {
    // Forbidden storage holds nothing.
  }
};

export const writeEcho = (key: string, { text, at }: Draft): void => {
  try {
    localStorage.setItem(prefix + key, `${at}:${text}`);
  } catch {
    // Full or forbidden: who wrote it keeps it otherwise, and an older one must not come back.
    removeEcho(key);
  }
};

/** @throws DOMException where storage is forbidden */
export const echoedKeys = (): string[] =>
  Object.keys(localStorage)
    .filter((key) => key.startsWith(prefix))
    .map((key) => key.slice(prefix.length));
