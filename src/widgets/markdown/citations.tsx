import { createContext, useContext, type ReactNode } from 'react';
import css from './markdown.module.css';

/** The numbered sources of a text: what a number in it opens. Null: brackets are words. */
export const Citing = createContext<{
  has: (n: number) => boolean;
  /** `said`: the words before the number. */
  open: (n: number, said: string) => void;
} | null>(null);

const citation = /\[(\d{1,2})\]/;
export const holdsCitation = (text: string): boolean => citation.test(text);

/** Words with their numbers as buttons. */
export const Cited = ({ text }: { text: string }): ReactNode => {
  const citing = useContext(Citing);
  if (!citing) return text;
  const parts = text.split(citation);
  return parts.map((part, at) => {
    if (at % 2 === 0) return part;
    const n = Number(part);
    if (!citing.has(n)) return `[${part}]`;
    return (
      <button
        key={at}
        type="button"
        className={css.cite}
        aria-label={`来源 ${n}`}
        onClick={() => citing.open(n, parts[at - 1] ?? '')}
      >
        {n}
      </button>
    );
  });
};
