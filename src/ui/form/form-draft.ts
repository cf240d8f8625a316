import { useEffect, useState } from 'react';
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
  const [touched, setTouched] = useState(false);
  useEffect(() => {
    if (key === undefined || !touched) return undefined;
    const timer = setTimeout(() => {
      try {
        localStorage.setItem(placeOf(key), JSON.stringify(values));
      } catch {
        // Without room it lives as long as the form.
      }
    }, draftEvery);
    return () => clearTimeout(timer);
  }, [key, touched, values]);
  const drop = () => {
    if (key !== undefined) forget(key);
    setDraft(null);
    setTouched(false);
  };
  return {
    values,
    /** It began with what was kept. */
    resumed: draft !== null,
    set: (next: FormValues) => {
      setTouched(true);
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
