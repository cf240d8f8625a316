import type { Column } from './data-table.tsx';

/** A column of whole numbers, written as 12,345. */
export const numberColumn = <Key extends string>(
  key: Key,
  title: string,
  more: Partial<Column<Record<Key, number>>> = {},
): Column<Record<Key, number>> => ({
  key,
  title,
  align: 'end',
  value: (row) => row[key],
  render: (row) => row[key].toLocaleString('zh-CN'),
  ...more,
});
