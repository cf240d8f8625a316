import boxCss from './send.module.css';

/** Shown when a text comes near to the most that may be sent. */
export const LetterCount = ({ text, most }: { text: string; most: number }) => {
  const { length } = text.trim();
  return text.length > most * 0.9 ? (
    <span className={boxCss.sendCount} data-count data-over={length > most || undefined}>
      {length} / {most}
    </span>
  ) : null;
};
