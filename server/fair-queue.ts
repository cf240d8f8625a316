import { Refusal } from './http/handlers.ts';

/** Who waits: an account, or all guests of a network as one. */
export interface Waiter {
  person: string;
  guest: boolean;
}

/**
 * So many things are done at once, of each person one; the others wait, and whoever has waited
 * longest without having anything done is next. Guests never hold the last of several slots, and
 * where there is one they come after everybody else: there are as many of them as somebody likes.
 * @param most what one person may have waiting
 */
export const createFairQueue = (slots: number, most = Infinity) => {
  const busy = new Map<string, boolean>();
  const waiting = new Map<string, { guest: boolean; begin: () => void }[]>();
  const forGuests = Math.max(1, slots - 1);

  /** Who waits, in the order in which they are looked at. */
  const inOrder = () => {
    const all = [...waiting];
    if (slots > 1) return all;
    const isGuest = ([, [next]]: (typeof all)[number]): boolean => next?.guest === true;
    return [...all.filter((each) => !isGuest(each)), ...all.filter(isGuest)];
  };

  const begin = (): void => {
    for (const [key, line] of inOrder()) {
      if (busy.size >= slots) return;
      const [next] = line;
      if (!next || busy.has(key)) continue;
      const guests = [...busy.values()].filter(Boolean).length;
      if (next.guest && guests >= forGuests) continue;
      // What else the person has waits behind everybody else.
      waiting.delete(key);
      line.shift();
      if (line.length > 0) waiting.set(key, line);
      busy.set(key, next.guest);
      next.begin();
    }
  };

  /** @throws Refusal too_many */
  return async <T>({ person, guest }: Waiter, act: () => Promise<T>): Promise<T> => {
    const line = waiting.get(person) ?? [];
    if (line.length >= most)
      throw new Refusal('too_many', '上一批还在处理，请稍后再试', { retry_after: 5 });
    await new Promise<void>((resolve) => {
      waiting.set(person, [...line, { guest, begin: resolve }]);
      begin();
    });
    try {
      return await act();
    } finally {
      busy.delete(person);
      // What came from the same person meanwhile waits behind everybody who came meanwhile.
      const line = waiting.get(person);
      if (line) {
        waiting.delete(person);
        waiting.set(person, line);
      }
      begin();
    }
  };
};
