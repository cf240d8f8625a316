import { compactNumber } from '#common/compact-number.ts';
import { dateTime } from '#src/platform/format.ts';
import type { Column } from './data-table.tsx';

/** A column of one field of the rows, by how its values are shown; the rows can be sorted by it. */
const columnOf =
  <Value extends string | number>(
    show: (value: Value) => string,
    usual: Partial<Column<unknown>> = {},
  ) =>
  <Key extends string>(
    key: Key,
    title: string,
    more: Partial<Column<Record<Key, Value>>> = {},
  ): Column<Record<Key, Value>> => ({
    key,
    title,
    value: (row) => row[key],
    render: (row) => show(row[key]),
    sortable: true,
    ...usual,
    ...more,
  });

/** When something was: 2026-07-04 09:05. */
export const momentColumn = columnOf<string>(dateTime);

/** Whole numbers: 12,345. */
export const numberColumn = columnOf<number>((value) => value.toLocaleString('zh-CN'), {
  align: 'end',
});

/** Large numbers in short: 1.2万. */
export const compactColumn = columnOf<number>(compactNumber, { align: 'end' });
