import { limits, tooLongText, tooShortText } from '@contract/limits.ts';
import { useLayoutEffect, useRef } from 'react';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Why a text can not be sent as it is; empty when it can. */
export const refusalOf = (text: string, most: number, first: boolean): string => {
  if (text.length > most) return tooLongText(most);
  if (first && bytesOf(text) < limits.minPromptBytes) return tooShortText(limits.minPromptBytes);
  return '';
};

const tallest = 168;

/** The box grows with its text up to a part of the screen. */
export const useGrowth = (text: string) => {
  const box = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const area = box.current;
    if (!area) return;
    area.style.height = 'auto';
    if (text !== '') area.style.height = `${Math.min(tallest, area.scrollHeight)}px`;
  }, [text]);
  return box;
};
