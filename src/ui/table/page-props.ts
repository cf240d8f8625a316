import type { SortedList } from '#contract/sorts.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { sortingOf } from './sorted.ts';

type Query<T> = Pick<
  UseQueryResult<T>,
  'data' | 'error' | 'isFetching' | 'isPlaceholderData' | 'refetch'
>;
interface Page<Row> {
  list: readonly Row[];
  page_count: number;
  total: number;
}

/** Rows that are read anew stand whole meanwhile; those of another page or filter do not. */
export const isBusy = (
  query: Pick<UseQueryResult, 'data' | 'isFetching' | 'isPlaceholderData'>,
): boolean => query.isFetching && (query.data === undefined || query.isPlaceholderData);

/** What a table shows of the query of its rows. */
export const listProps = <Row>(query: Query<{ list: readonly Row[] }>) => ({
  rows: query.data?.list,
  error: query.error,
  busy: isBusy(query),
  onRetry: () => void query.refetch(),
});

/**
 * The same of one page among several, whose number stands in the address.
 * @param show changes the address, as `useTableSearch` gives it
 * @param sorted where the server sorts it: its call, and by what, as the address has it
 */
export const pageProps = <Row>(
  query: Query<Page<Row>>,
  page: number,
  show: (change: Record<string, string | number | undefined>, instead?: boolean) => void,
  sorted?: readonly [list: SortedList, by: string | undefined],
) => ({
  ...listProps(query),
  ...(sorted && {
    sorting: sortingOf(...sorted, query.data?.total, (sort) => show({ sort })),
  }),
  page,
  pageCount: query.data?.page_count,
  total: query.data?.total,
  onPage: (next: number, instead?: boolean) => show({ page: next }, instead),
});
