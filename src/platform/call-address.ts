/** Path and query of a call that carries these values; those of no simple kind are left out. */
export const callAddress = (path: string, query: Record<string, unknown>): string => {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query))
    if (typeof value === 'string' || typeof value === 'number') search.set(key, String(value));
  return search.size > 0 ? `${path}?${search.toString()}` : path;
};
