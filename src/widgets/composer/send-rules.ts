import { site } from '#src/platform/site.ts';
import { tooLongText, tooShortText } from '#contract/limits.ts';
import { useLayoutEffect, useRef } from 'react';

const bytesOf = (text: string) => new TextEncoder().encode(text).length;

/** Why a text can not be sent as it is; empty when it can. */
export const refusalOf = (text: string, most: number, first: boolean): string => {
  if (text.length > most) return tooLongText(most);
  const { min_prompt_bytes: least } = site();
  if (first && bytesOf(text) < least) return tooShortText(least);
  return '';
};

/** How much the first message has at least, before more is said. */
export const leastText = (bytes: number): string =>
  bytes < 2 ? '' : `第一句至少 ${Math.ceil(bytes / 3)} 个汉字或 ${bytes} 个英文字母；`;

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
