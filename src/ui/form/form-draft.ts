import { readJson } from '#src/platform/read-json.ts';
import { useMemo, useState } from 'react';
import { readDraft, useDraft, writeDraft } from '#src/platform/draft.ts';
import type { FormValues } from './field.ts';

const parsed = (text: string): FormValues => readJson<FormValues>(text, {});

/** Whoever does without the form does without what was typed. */
export const dropFormDraft = (key: string): void => writeDraft(`form:${key}`, '');

/** What was typed into a form and not saved yet, in the store of drafts; without a key as long as the form. */
export const useFormDraft = (key: string | undefined, initial: FormValues) => {
  const place = `form:${key}`;
  const [began] = useState(initial);
  const [text] = useDraft(place);
  /** As it was typed here, with what JSON does not tell. */
  const [typed, setTyped] = useState<{ text: string; values: FormValues } | null>(null);
  // What was saved although its answer was lost is no longer another than what is there.
  const [resumed, setResumed] = useState(() =>
    Object.entries(key === undefined ? {} : parsed(readDraft(place))).some(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(initial[name]),
    ),
  );
  const values = useMemo(() => {
    if (typed && (key === undefined || typed.text === text)) return typed.values;
    return key === undefined ? began : { ...began, ...parsed(text) };
  }, [key, began, text, typed]);
  /** It was saved: what stands in the form stays there until it is closed. */
  const drop = (left: FormValues = values) => {
    setTyped({ text: '', values: left });
    setResumed(false);
    if (key !== undefined) writeDraft(place, '');
  };
  return {
    values,
    /** It began with what was kept. */
    resumed,
    set: (next: FormValues) => {
      const written = JSON.stringify(next);
      setTyped({ text: written, values: next });
      if (key !== undefined) writeDraft(place, written);
    },
    drop: () => drop(),
    /** Back to how it was before anything was typed. */
    discard: () => drop(began),
  };
};
