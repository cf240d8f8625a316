import { limits } from '#contract/limits.ts';
import { sorts, sortsOfLong, type SortedList, type SortOf } from '#contract/sorts.ts';

/**
 * By what a list is sorted, as its call takes it.
 * @param by the key of a column, with a minus for descending; what the list does not offer is dropped
 */
export const sortInput = <L extends SortedList>(
  list: L,
  by: string | undefined,
): { sort?: SortOf<L>; order?: 'asc' | 'desc' } => {
  const offered: readonly SortOf<L>[] = sorts[list];
  const sort = offered.find((key) => key === by?.replace(/^-/, ''));
  return sort === undefined ? {} : { sort, order: by?.startsWith('-') ? 'desc' : 'asc' };
};

/** What a table whose rows the server sorts knows of it. */
export interface Sorting {
  by: string | undefined;
  keys: readonly string[];
  /** Those that a shorter list can be sorted by. */
  ofShort: readonly string[];
  onSort: (sort: string | undefined) => void;
}

export const sortingOf = (
  list: SortedList,
  by: string | undefined,
  total: number | undefined,
  onSort: Sorting['onSort'],
): Sorting => {
  const keys = (total ?? 0) >= limits.counted ? sortsOfLong(list) : sorts[list];
  return { by, keys, ofShort: sorts[list].filter((key) => !keys.includes(key)), onSort };
};
