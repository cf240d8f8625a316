import { limits } from '#contract/limits.ts';
import { sortsOfLong, type SortedList, type SortOf } from '#contract/sorts.ts';
import { Refusal } from './http/handlers.ts';

/** As the call of a list has it. */
export interface Sorting<L extends SortedList> {
  sort?: SortOf<L> | undefined;
  order?: 'asc' | 'desc' | undefined;
}

/** @throws Refusal bad_input: so long a list is only sorted by what has an index */
export const requireSortable = <L extends SortedList>(
  list: L,
  { sort }: Sorting<L>,
  total: number,
): void => {
  if (sort !== undefined && total >= limits.counted && !sortsOfLong(list).includes(sort))
    throw new Refusal('bad_input', `sort：有 ${limits.counted} 条以上，请先筛选，再按这一列排序`);
};

/** Rows that are at hand in the order that was asked for. */
export const sortRows = <Row>(
  rows: readonly Row[],
  by: (row: Row) => number,
  order: 'asc' | 'desc' = 'desc',
): Row[] => [...rows].sort((a, b) => (order === 'asc' ? by(a) - by(b) : by(b) - by(a)));
