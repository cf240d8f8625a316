import { Refusal } from './http/handlers.ts';

/** Who waits: an account, or all guests of a network as one. */
export interface Waiter {
  person: string;
  guest: boolean;
}

/** This server itself, where nobody asked. */
export const house: Waiter = { person: 'house', guest: false };

interface Waiting {
  guest: boolean;
  begin: () => void;
}

/**
 * So many things are done at once, of each person one or `each`; the others wait, and whoever has
 * waited longest without having anything done is next. Guests never hold the last of several slots, and
 * where there is one they come after everybody else: there are as many of them as somebody likes.
 * @param most what one person may have waiting
 * @param patience for how long anything waits at most, ms
 */
export const createFairQueue = (slots: number, most = Infinity, each = 1, patience = Infinity) => {
  /** How much of each person is being done, and how much of all and of guests. */
  const busy = new Map<string, number>();
  let running = 0;
  let guests = 0;
  const waiting = new Map<string, Waiting[]>();
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
      if (running >= slots) return;
      const [next] = line;
      const own = busy.get(key) ?? 0;
      if (!next || own >= each) continue;
      if (next.guest && guests >= forGuests) continue;
      // What else the person has waits behind everybody else.
      waiting.delete(key);
      line.shift();
      if (line.length > 0) waiting.set(key, line);
      busy.set(key, own + 1);
      running += 1;
      if (next.guest) guests += 1;
      next.begin();
    }
  };

  /** @throws Refusal too_many, where its turn does not come */
  const turnOf = (person: string, guest: boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        const left = (waiting.get(person) ?? []).filter((each) => each !== own);
        if (left.length > 0) waiting.set(person, left);
        else waiting.delete(person);
        reject(
          new Refusal('too_many', '现在要做的太多，没有排到，请稍后再试', { retry_after: 10 }),
        );
      };
      const timer = patience < Infinity ? setTimeout(giveUp, patience) : undefined;
      const own: Waiting = {
        guest,
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      waiting.set(person, [...(waiting.get(person) ?? []), own]);
      begin();
    });

  /** @throws Refusal too_many */
  return async <T>({ person, guest }: Waiter, act: () => Promise<T>): Promise<T> => {
    if ((waiting.get(person)?.length ?? 0) >= most)
      throw new Refusal('too_many', '上一批还在处理，请稍后再试', { retry_after: 5 });
    await turnOf(person, guest);
    try {
      return await act();
    } finally {
      const left = (busy.get(person) ?? 1) - 1;
      if (left > 0) busy.set(person, left);
      else busy.delete(person);
      running -= 1;
      if (guest) guests -= 1;
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
