/** Text with the words that were searched for marked in it. */
export const Marked = ({ text, words }: { text: string; words: string | undefined }) => {
  const terms = (words ?? '').trim().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return text;
  const any = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|');
  // Split by a group: every second part is one of the words.
  return text
    .split(new RegExp(`(${any})`, 'gi'))
    .map((part, at) => (at % 2 === 1 ? <mark key={at}>{part}</mark> : part));
};
