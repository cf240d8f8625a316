/** How Chromium says that the disk itself is full, which no quota tells: by an UnknownError's words. */
const diskFull = /NO_SPACE|opening backing store/;

interface Told {
  name?: string;
  message?: string;
  inner?: unknown;
}

/** The storage of this device had no room for something. */
export const isFull = (error: unknown): boolean => {
  for (let each = error as Told | null | undefined; each;) {
    if (each.name === 'QuotaExceededError' || diskFull.test(each.message ?? '')) return true;
    each = each.inner as typeof each;
  }
  return false;
};

/**
 * Writes; where there is no room, one thing after the other gives way to it. Rejects with what the
 * last try met.
 */
export const makingRoom = async <T>(
  write: () => Promise<T>,
  giveWay: readonly (() => Promise<unknown>)[],
): Promise<T> => {
  for (const give of giveWay) {
    try {
      return await write();
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    await give().catch(() => undefined);
  }
  return write();
};
