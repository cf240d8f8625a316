import { ChipDot } from '#src/ui/chip.tsx';
import { Icon } from '#src/ui/icon.tsx';
import { QueryFailed } from '#src/ui/load-failed.tsx';
import { Skeleton } from '#src/ui/skeleton.tsx';
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
  chosen,
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
  /** Of a list of which several may be chosen: those that are. */
  chosen?: readonly (string | number)[];
  onChoose: (item: StartItem) => void;
}) => {
  const list = query.data === undefined ? undefined : items(query.data);
  return (
    <>
      {query.isPending && <Skeleton lines={lines} />}
      {query.error && !list && <QueryFailed query={query} />}
      {list?.length === 0 && empty}
      <ul className={css.startList}>
        {list?.map((item) => (
          <li key={item.key}>
            <button
              type="button"
              className={css.startItem}
              data-row
              aria-pressed={chosen?.includes(item.key)}
              onClick={() => onChoose(item)}
            >
              {item.color !== undefined && <ChipDot color={item.color} />}
              <span className={css.startWords}>
                <strong>{item.name}</strong>
                <small>{item.about}</small>
              </span>
              {chosen?.includes(item.key) && <Icon name="check" size={20} />}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
};
