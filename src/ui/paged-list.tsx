import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';
import { QueryFailed } from './load-failed.tsx';
import { Pager } from './pager/pager.tsx';

/** A list read page by page, what stands there while it is not, and the way to its other pages. */
export const PagedList = <Row,>({
  query,
  waiting,
  empty,
  page,
  onPage,
  children,
}: {
  query: UseQueryResult<{ list: readonly Row[]; page_count: number }>;
  waiting: ReactNode;
  empty: ReactNode;
  page: number;
  /** `instead`: the page takes the place of the one that is shown. */
  onPage: (page: number, instead?: boolean) => void;
  /** Where there is anything. */
  children: (rows: readonly Row[]) => ReactNode;
}) => {
  const { data } = query;
  if (query.isPending) return waiting;
  if (!data) return <QueryFailed query={query} />;
  return (
    <>
      {data.list.length === 0 ? empty : children(data.list)}
      <Pager
        page={page}
        count={data.page_count}
        isCounted={!query.isPlaceholderData}
        onPage={onPage}
      />
    </>
  );
};
