import { api } from '#src/platform/api.ts';
import { errorText } from '#src/platform/api-error.ts';
import { useAuth } from '#src/platform/auth-store.ts';
import { FilterField } from '#src/ui/filter-field.tsx';
import { EmptyState } from '#src/ui/empty-state.tsx';
import { Sheet } from '#src/ui/sheet.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { separatorTime } from '#src/widgets/conversation/chat-time.ts';
import css from './find-sheet.module.css';
import { searchThread, type Hit } from './thread-search.ts';
import type { Thread } from '#src/widgets/conversation/thread.ts';

/** How long the words must rest before they are looked for, ms. */
const rest = 250;

const Snippet = ({ text, words }: { text: string; words: string }) => {
  const at = text.toLowerCase().indexOf(words.toLowerCase());
  if (at < 0) return <p>{text}</p>;
  return (
    <p>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </p>
  );
};

const useRested = (text: string): string => {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), rest);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
};

const Hits = ({
  hits,
  words,
  onChoose,
}: {
  hits: readonly Hit[];
  words: string;
  onChoose: (id: number, part: Hit['part']) => void;
}) => (
  <ul className={css.hits} aria-label="找到的消息">
    {hits.map((hit) => (
      <li key={`${hit.history_id}:${hit.part}`}>
        <button type="button" onClick={() => onChoose(hit.history_id, hit.part)}>
          <small>
            {hit.part === 'human' ? '提问' : '回复'} · {separatorTime(hit.created_at)}
          </small>
          <Snippet text={hit.snippet} words={words} />
        </button>
      </li>
    ))}
  </ul>
);

/** Looks for words in the messages of the session. */
const FindSheet = ({
  thread,
  temporary,
  open,
  onClose,
  onChoose,
}: {
  thread: Thread;
  /** The server knows nothing of its messages. */
  temporary: boolean;
  open: boolean;
  onClose: () => void;
  onChoose: (id: number, part: Hit['part']) => void;
}) => {
  const [text, setText] = useState('');
  const words = useRested(text.trim());
  const { token } = useAuth();
  const here = temporary || token === '';
  const found = useQuery({
    queryKey: ['search', thread.uuid, words],
    queryFn: ({ signal }) =>
      here
        ? searchThread(thread, words)
        : api
            .searchMessages({ session_id: thread.uuid, query: words }, { signal, quiet: true })
            .then((page) => page.list),
    enabled: open && words !== '',
  });
  // Without the network, what is on the page is better than nothing.
  const hits = found.error ? searchThread(thread, words) : found.data;
  return (
    <Sheet popover="panel" open={open} onClose={onClose} title="查找">
      <FilterField label="在这个会话里查找" value={text} onChange={setText} />
      {found.error && (
        <p className={css.findNote}>{errorText(found.error)}，下面只是已经读出的消息</p>
      )}
      {words === '' ? (
        <EmptyState icon="search" text="输入要找的词，中文也可以只写两三个字" />
      ) : !hits ? (
        <Skeleton lines={4} />
      ) : hits.length === 0 ? (
        <EmptyState icon="search" text={`没有找到“${words}”，换个说法试试`} />
      ) : (
        <Hits
          hits={hits}
          words={words}
          onChoose={(id, part) => {
            onClose();
            onChoose(id, part);
          }}
        />
      )}
    </Sheet>
  );
};

export default FindSheet;
