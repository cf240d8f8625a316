/** How Chromium says that the disk itself is full, which no quota tells: by an UnknownError's words. */
const diskFull = /NO_SPACE|opening backing store/;

interface Told {
  name?: string;
  message?: string;
  inner?: unknown;
}

/** How a storage fails that gave up as a whole; why it did, it says when it is opened again. */
const gaveUp: ReadonlySet<string> = new Set(['AbortError', 'UnknownError', 'InvalidStateError']);

const some = (error: unknown, is: (told: Told) => boolean): boolean => {
  for (let each = error as Told | null | undefined; each; each = each.inner as typeof each)
    if (is(each)) return true;
  return false;
};

/** The storage of this device had no room for something. */
export const isFull = (error: unknown): boolean =>
  some(error, ({ name, message = '' }) => name === 'QuotaExceededError' || diskFull.test(message));

/** The storage could not do what it was asked for, whatever that was: it is full, or gave up. */
export const isBroken = (error: unknown): boolean =>
  isFull(error) || some(error, ({ name = '' }) => gaveUp.has(name));

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
      if (!isBroken(error)) throw error;
    }
    await give().catch(() => undefined);
  }
  return write();
};
