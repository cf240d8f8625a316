/** The storage of this device had no room for something. */
export const isFull = (error: unknown): boolean => {
  for (let each = error as { name?: string; inner?: unknown } | null | undefined; each;) {
    if (each.name === 'QuotaExceededError') return true;
    each = each.inner as typeof each;
  }
  return false;
};
