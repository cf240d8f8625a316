import { useCallback, useState } from 'react';

const prefix = 'queqiao.draft.';

/** What was typed and not sent, kept in this browser until it is sent or emptied. */
export const readDraft = (key: string): string => {
  try {
    return localStorage.getItem(prefix + key) ?? '';
  } catch {
    return '';
  }
};

export const writeDraft = (key: string, text: string) => {
  try {
    if (text === '') localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, text);
  } catch {
    // Full or forbidden storage: the text lives as long as the page.
  }
};

/** The text of a box, as state that survives leaving the page. `key`: 'home' or a session's uuid. */
export const useDraft = (key: string): [string, (text: string) => void] => {
  const [state, setState] = useState({ key, text: readDraft(key) });
  // Another session is on screen: its own draft, in the same render.
  const text = state.key === key ? state.text : readDraft(key);
  if (state.key !== key) setState({ key, text });
  const set = useCallback(
    (next: string) => {
      setState({ key, text: next });
      writeDraft(key, next);
    },
    [key],
  );
  return [text, set];
};
