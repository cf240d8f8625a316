import { LoadFailed } from '@/ui/load-failed.tsx';
import { Skeleton } from '@/ui/skeleton.tsx';
import type { ReactNode } from 'react';
import css from './start-sheets.module.css';

export interface StartItem {
  key: string | number;
  name: string;
  about: string;
  /** Undefined: no dot; empty: in the usual colour. */
  color?: string;
}

/** What the next session can begin with, one of which is chosen. */
export const StartList = <T,>({
  query,
  items,
  lines,
  empty,
  onChoose,
}: {
  query: {
    data: T | undefined;
    error: Error | null;
    isPending: boolean;
    isFetching: boolean;
    refetch: () => Promise<unknown>;
  };
  items: (data: T) => readonly StartItem[];
  /** Of the skeleton. */
  lines: number;
  empty: ReactNode;
  onChoose: (item: StartItem) => void;
}) => {
  const list = query.data === undefined ? undefined : items(query.data);
  return (
    <>
      {query.isPending && <Skeleton lines={lines} />}
      {query.error && !list && (
        <LoadFailed
          error={query.error}
          busy={query.isFetching}
          onRetry={() => void query.refetch()}
        />
      )}
      {list?.length === 0 && empty}
      <ul className={css.startList}>
        {list?.map((item) => (
          <li key={item.key}>
            <button type="button" className={css.startItem} onClick={() => onChoose(item)}>
              {item.color !== undefined && (
                <span className="chip-dot" style={{ background: item.color || undefined }} />
              )}
              <span className={css.startWords}>
                <strong>{item.name}</strong>
                <small>{item.about}</small>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
