/** How long a key is set aside at first, doubled each time that it fails again, ms. */
const pauses = {
  /** It is not known, or used up: somebody has to do something. */
  key: { first: 30_000, longest: 30 * 60_000 },
  money: { first: 60_000, longest: 60 * 60_000 },
  full: { first: 1_000, longest: 60_000 },
} as const;
/** Of so many people within so many ms a key that has no room is set aside for all; before, for each of them. */
const fullFor = { people: 3, within: 10_000 };
/** When its pause is over, one call tries it; so long the others pass it over, ms. */
const trialMs = 5_000;
export type AsideFor = keyof typeof pauses;

export interface Aside {
  reason: AsideFor;
  /** In a row. */
  strikes: number;
  /** ms since 1970. */
  until: number;
}

interface WayTo {
  channelId: number;
  mark: string;
  model: string;
  /** Who met it; null: nobody in particular. */
  person: string | null;
}

const mostKept = 10_000;

/** Which keys of channels are set aside, for all models or for one; each process for itself. */
export const createKeyRests = (now: () => number = Date.now) => {
  const aside = new Map<string, Aside>();
  const met = new Map<string, { people: Set<string>; since: number }>();
  /** By the same names as `aside`: until when one call tries what was set aside, ms since 1970. */
  const trials = new Map<string, number>();
  const keyOf = (channelId: number, mark: string, model: string) => `${channelId} ${mark} ${model}`;
  const ofPerson = (model: string, person: string): string => `${model} of ${person}`;
  const forget = (key: string): boolean => {
    trials.delete(key);
    return aside.delete(key);
  };
  /**
   * A key that is refused is so for all models; what it may spend may be told apart by model. That it
   * has no room one person can bring about by asking much, so it is that person's alone at first.
   */
  const scope = (reason: AsideFor, line: WayTo): string => {
    const { channelId, mark, model, person } = line;
    if (reason === 'key') return '';
    if (reason !== 'full' || person === null) return model;
    const key = keyOf(channelId, mark, model);
    const known = met.get(key);
    const time = now();
    const one =
      known && time - known.since <= fullFor.within
        ? known
        : { people: new Set<string>(), since: time };
    met.set(key, one);
    one.people.add(person);
    return one.people.size >= fullFor.people ? model : ofPerson(model, person);
  };

  return {
    /** Until when a key is set aside for a model, ms since 1970; 0: it is not. */
    until: (channelId: number, mark: string, model: string, person = ''): number => {
      const time = now();
      const ends = ['', model, ofPerson(model, person)].map((each) => {
        const key = keyOf(channelId, mark, each);
        const known = aside.get(key);
        return known ? Math.max(known.until, trials.get(key) ?? 0) : 0;
      });
      const end = Math.max(...ends);
      return end > time ? end : 0;
    },
    /** It is about to be asked: where a pause of it is over, the others wait for what becomes of it. */
    tried: (channelId: number, mark: string, model: string, person = ''): void => {
      const time = now();
      for (const each of ['', model, ofPerson(model, person)]) {
        const key = keyOf(channelId, mark, each);
        const known = aside.get(key);
        if (known && known.until <= time) trials.set(key, time + trialMs);
      }
    },
    /** @param retryAfterMs when its service wants to be asked again; null: it did not say */
    put: (line: WayTo, reason: AsideFor, retryAfterMs: number | null): Aside => {
      const key = keyOf(line.channelId, line.mark, scope(reason, line));
      const known = aside.get(key);
      const time = now();
      // Calls that were under way when it was set aside say nothing new.
      if (known && known.until > time && known.reason === reason) return known;
      const strikes = known?.reason === reason ? known.strikes + 1 : 1;
      const { first, longest } = pauses[reason];
      const pause = Math.min(first * 2 ** Math.min(strikes - 1, 20), longest);
      if (aside.size >= mostKept) {
        aside.clear();
        trials.clear();
      }
      trials.delete(key);
      const made = { reason, strikes, until: time + Math.max(pause, retryAfterMs ?? 0) };
      aside.set(key, made);
      return made;
    },
    /** It answered: nothing of what was held against it counts any more. Whether anything was. */
    clear: (channelId: number, mark: string, model: string): boolean => {
      const had = ['', model].map((each) => forget(keyOf(channelId, mark, each)));
      return had.includes(true);
    },
    /** The same of what one person met there. */
    clearOwn: (channelId: number, mark: string, model: string, person: string): void => {
      forget(keyOf(channelId, mark, ofPerson(model, person)));
    },
    /** What another process found. */
    heard: (channelId: number, mark: string, model: string, told: Aside): void => {
      const key = keyOf(channelId, mark, told.reason === 'key' ? '' : model);
      if ((aside.get(key)?.until ?? 0) < told.until) aside.set(key, told);
    },
  };
};
