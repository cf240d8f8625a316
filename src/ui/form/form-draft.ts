import { useCallback, useState } from 'react';
import type { FormValues } from './field.ts';
import { useKeepEachSecond } from './keep-each-second.ts';

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
  const keep = useCallback(
    (typed: FormValues) => {
      if (key === undefined) return;
      try {
        localStorage.setItem(placeOf(key), JSON.stringify(typed));
      } catch {
        // Without room it lives as long as the form.
      }
    },
    [key],
  );
  const typed = useKeepEachSecond(keep);
  const drop = () => {
    typed.forget();
    if (key !== undefined) forget(key);
    setDraft(null);
  };
  return {
    values,
    /** It began with what was kept. */
    resumed: draft !== null,
    set: (next: FormValues) => {
      typed.note(next);
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
