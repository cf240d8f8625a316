import { useEffect, useRef, useState } from 'react';
import { readDraft, writeDraft } from '#src/platform/draft.ts';
import { confirmDialog } from '#src/ui/dialog.ts';
import { noMask, type Mask } from './mask.ts';

/** What is marked on an image, and the way back and forth through how it came to be. */
export interface MaskHistory {
  mask: Mask;
  change: (mask: Mask) => void;
  /** Absent: there is nothing to take back, or to do again. */
  undo?: () => void;
  redo?: () => void;
}

/** What is marked on an image and not used yet stands among the drafts. */
const placeOf = (url: string): string => `form:mask.${url}`;

const keptMask = (url: string): Mask | null => {
  try {
    const kept = JSON.parse(readDraft(placeOf(url)) || 'null') as Mask | null;
    return Array.isArray(kept?.marks) ? kept : null;
  } catch {
    return null;
  }
};

/** It was used, or thrown away. */
export const forgetMask = (url: string): void => writeDraft(placeOf(url), '');

const keepMask = (url: string, mask: Mask): void => {
  if (mask.marks.length === 0 && !mask.inverted) forgetMask(url);
  else writeDraft(placeOf(url), JSON.stringify(mask));
};

/** Words that are being typed have an undoing of their own. */
export const isTyped = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement ||
  (target instanceof HTMLInputElement && target.type !== 'range' && target.type !== 'radio');

/**
 * Begins with what was marked on the image and not used.
 * @param active whether Ctrl+Z and Ctrl+Y are for it now
 */
export const useMask = ({ url }: { url: string }, active = true): MaskHistory => {
  const [{ steps, at }, setHistory] = useState<{ steps: readonly Mask[]; at: number }>(() => {
    const kept = keptMask(url);
    return kept ? { steps: [noMask, kept], at: 1 } : { steps: [noMask], at: 0 };
  });
  const go = (to: number) => {
    keepMask(url, steps[to] ?? noMask);
    setHistory((old) => ({ ...old, at: to }));
  };
  const history: MaskHistory = {
    mask: steps[at] ?? noMask,
    change: (mask) => {
      keepMask(url, mask);
      setHistory({ steps: [...steps.slice(0, at + 1), mask], at: at + 1 });
    },
    ...(at > 0 ? { undo: () => go(at - 1) } : {}),
    ...(at < steps.length - 1 ? { redo: () => go(at + 1) } : {}),
  };
  const latest = useRef(history);
  useEffect(() => {
    latest.current = history;
  });
  useEffect(() => {
    if (!active) return undefined;
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyped(event.target)) return;
      const key = event.key.toLowerCase();
      if (key !== 'z' && key !== 'y') return;
      event.preventDefault();
      if (key === 'y' || event.shiftKey) latest.current.redo?.();
      else latest.current.undo?.();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [active]);
  return history;
};

/** Asks before what was marked is thrown away; true at once where nothing was. */
export const mayDiscard = async ({ marks }: Mask, { url }: { url: string }): Promise<boolean> => {
  if (marks.length === 0) return true;
  const discards = await confirmDialog({
    title: '放弃涂抹？',
    text: '标出的地方还没有用上，离开就没有了。',
    ok: '放弃',
    danger: true,
  });
  if (discards) forgetMask(url);
  return discards;
};
