/**
 * The rows that stand on a page of a list.
 * @param most where the last page begins that can be asked for
 */
export const windowOf = (page: number, size: number, most = Infinity) => ({
  offset: Math.min((page - 1) * size, most),
  limit: size,
});

/**
 * A page of a list whose rows may be heavy: it ends with the row that makes it so, and the next
 * begins behind it.
 * @param weights of the rows in their order, from the first, at least as far as this page may reach
 * @param total how many rows there are
 * @returns its window, and how many pages there are as far as the weights tell
 */
export const heavyPage = (
  weights: readonly number[],
  total: number,
  { page, size, most }: { page: number; size: number; most: number },
) => {
  let [pages, begun, rows, weight] = [0, 0, 0, 0];
  let found: { offset: number; limit: number } | null = null;
  const end = () => {
    pages += 1;
    if (pages === page) found = { offset: begun, limit: rows };
    begun += rows;
    rows = 0;
    weight = 0;
  };
  for (const each of weights) {
    rows += 1;
    weight += each;
    if (rows === size || weight >= most) end();
  }
  const rest = Math.max(total, begun + rows) - begun;
  const known = begun + rows >= total;
  if (rows > 0 && known) end();
  return {
    window: found ?? { offset: begun, limit: 0 },
    pages: known ? pages : pages + Math.ceil(rest / size),
  };
};

/** What a page of a list says of the whole list. */
export const pageOf = (total: number, page: number, size: number) => ({
  page,
  page_count: Math.ceil(total / size),
  page_size: size,
  total,
});
