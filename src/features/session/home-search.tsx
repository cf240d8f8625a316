import { Button } from '#src/ui/button.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { useEffect, useRef, useState } from 'react';
import css from './home.module.css';

/** How long the keys rest before the list follows, ms. */
const rest = 300;

/** Finds words in titles and messages; on a phone a button that opens over the head. */
export const HomeSearch = ({
  title,
  query,
  open,
  onOpen,
  onQuery,
}: {
  /** Of what is searched. */
  title: string;
  query: string | undefined;
  /** On a phone its field is shown. */
  open: boolean;
  onOpen: (open: boolean) => void;
  onQuery: (query: string | undefined) => void;
}) => {
  const [words, setWords] = useState(query ?? '');
  const [applied, setApplied] = useState(query);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => () => clearTimeout(timer.current), []);
  const find = () => {
    onOpen(true);
    requestAnimationFrame(() => box.current?.focus());
  };
  if (applied !== query) {
    setApplied(query);
    // The address changed by other means than these keys, such as the back button.
    if ((query ?? '') !== words.trim()) setWords(query ?? '');
  }
  const apply = (text: string) => {
    clearTimeout(timer.current);
    onQuery(text.trim() || undefined);
  };
  return (
    <form
      role="search"
      className={open ? `${css.homeSearch} ${css.homeSearchOpen}` : css.homeSearch}
      onSubmit={(event) => {
        event.preventDefault();
        apply(words);
      }}
    >
      <Button kind="ghost" size="icon" aria-label="搜索" aria-expanded={open} onClick={find}>
        <Icon name="search" size={22} />
      </Button>
      <label className="filter-box">
        <Icon name="search" size={18} />
        <span className="sr-only">搜索会话和消息</span>
        <input
          ref={box}
          type="search"
          value={words}
          maxLength={200}
          placeholder={`搜索${title}`}
          enterKeyHint="search"
          onChange={({ target: { value } }) => {
            setWords(value);
            clearTimeout(timer.current);
            if (value === '') apply('');
            else timer.current = setTimeout(() => apply(value), rest);
          }}
        />
        <button
          type="button"
          className={`round ${css.homeSearchClose}`}
          aria-label="关闭搜索"
          onClick={() => {
            setWords('');
            onOpen(false);
            apply('');
          }}
        >
          <Icon name="close" size={18} />
        </button>
      </label>
    </form>
  );
};
