import { Column, sql, type SQL } from 'drizzle-orm';

/**
 * The rows in the order that was asked for, whatever has no value last; among equals, and where
 * nothing was asked for, in the usual one.
 */
export const ordered = <K extends string>(
  columns: Readonly<Record<K, Column | SQL>>,
  { sort, order = 'desc' }: { sort?: NoInfer<K> | undefined; order?: 'asc' | 'desc' | undefined },
  ...usual: SQL[]
): SQL[] => {
  if (sort === undefined) return usual;
  const by = columns[sort];
  const way = sql.raw(order === 'asc' ? 'ASC' : 'DESC');
  // An index goes both ways only where nothing is said of what has no value.
  return [
    by instanceof Column && by.notNull ? sql`${by} ${way}` : sql`${by} ${way} NULLS LAST`,
    ...usual,
  ];
};
