import { useEffect, useRef, useState } from 'react';
import { Icon } from './icon.tsx';

/** So long after the last letter is searched, ms. */
const rest = 250;

/** Searches a list by what is typed, once the keys rest; the words stand in the address. */
export const SearchField = ({
  className,
  label,
  placeholder,
  words,
  onSearch,
}: {
  className: string | undefined;
  label: string;
  placeholder: string;
  /** What the address says. */
  words: string | undefined;
  onSearch: (words: string | undefined) => void;
}) => {
  const said = words ?? '';
  const [text, setText] = useState(said);
  const [sent, setSent] = useState(said);
  const [known, setKnown] = useState(said);
  if (known !== said) {
    setKnown(said);
    // By other means than these keys, such as the back button.
    if (said !== sent) setText(said);
  }
  const search = useRef(onSearch);
  useEffect(() => {
    search.current = onSearch;
  });
  useEffect(() => {
    const sought = text.trim();
    if (sought === said) return undefined;
    const timer = setTimeout(() => {
      setSent(sought);
      search.current(sought || undefined);
    }, rest);
    return () => clearTimeout(timer);
  }, [text, said]);
  return (
    <label className={className}>
      <Icon name="search" size={18} />
      <span className="sr-only">{label}</span>
      <input
        type="search"
        value={text}
        maxLength={100}
        placeholder={placeholder}
        onChange={(event) => setText(event.target.value)}
      />
    </label>
  );
};
