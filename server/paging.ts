/**
 * The rows that stand on a page of a list.
 * @param most where the last page begins that can be asked for
 */
export const windowOf = (page: number, size: number, most = Infinity) => ({
  offset: Math.min((page - 1) * size, most),
  limit: size,
});

/** What a page of a list says of the whole list. */
export const pageOf = (total: number, page: number, size: number) => ({
  page,
  page_count: Math.ceil(total / size),
  page_size: size,
  total,
});
