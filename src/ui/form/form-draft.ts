import { useEffect, useRef, useState } from 'react';
import type { FormValues } from './field.ts';

/** How often what is being written is kept, ms (document 3 §9). */
const draftEvery = 1_000;

const placeOf = (key: string) => `queqiao.form-draft.${key}`;

const read = (key: string): FormValues | null => {
  try {
    return JSON.parse(localStorage.getItem(placeOf(key)) ?? 'null') as FormValues | null;
  } catch {
    return null;
  }
};

const forget = (key: string): void => {
  try {
    localStorage.removeItem(placeOf(key));
  } catch {
    // Where nothing can be kept there is nothing.
  }
};

/** What was typed into a form and not saved yet, kept each second; without a key nothing is kept. */
export const useFormDraft = (key: string | undefined, initial: FormValues) => {
  const [draft, setDraft] = useState(() => (key === undefined ? null : read(key)));
  const [values, setValues] = useState<FormValues>(() => ({ ...initial, ...draft }));
  /** What was typed since it was last kept. */
  const unkept = useRef<FormValues | null>(null);
  useEffect(() => {
    if (key === undefined) return undefined;
    const keep = () => {
      if (unkept.current === null) return;
      try {
        localStorage.setItem(placeOf(key), JSON.stringify(unkept.current));
      } catch {
        // Without room it lives as long as the form.
      }
      unkept.current = null;
    };
    const timer = setInterval(keep, draftEvery);
    // Whoever closes it in the middle of a word finds that word again.
    addEventListener('pagehide', keep);
    return () => {
      clearInterval(timer);
      removeEventListener('pagehide', keep);
      keep();
    };
  }, [key]);
  const drop = () => {
    unkept.current = null;
    if (key !== undefined) forget(key);
    setDraft(null);
  };
  return {
    values,
    /** It began with what was kept. */
    resumed: draft !== null,
    set: (next: FormValues) => {
      unkept.current = next;
      setValues(next);
    },
    /** It was saved. */
    drop,
    /** Back to how it was before anything was typed. */
    discard: () => {
      drop();
      setValues(initial);
    },
  };
};
