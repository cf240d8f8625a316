/** How many of a channel's last times are kept, and how few say something. */
const kept = 100;
const enough = 10;
/** What one hedge costs of what a model's calls give, and the most that is saved up. */
const budget = { perCall: 0.1, most: 5 };

/** Times of a channel's model until its first word, or until the whole of an answer that is not told in pieces. */
interface Times {
  all: number[];
  next: number;
}

/** The time within which 95 of a hundred came; null: there were none. */
export const percentile95 = (times: readonly number[]): number | null => {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? null;
};

export type Form = 'stream' | 'whole';

/** A question's length makes a first word late by so much: 1 ms for so many characters. */
const charsPerMs = 4;

/**
 * Learns how soon channels answer, and tells how long each is waited for. A long question may take
 * longer, or anybody could make a channel look dead by asking for much.
 * @param floorMs no other channel is asked as well before this, ms; 0: none ever is
 */
export const createFirstWords = (floorMs: number) => {
  const times = new Map<string, Times>();
  const saved = new Map<string, number>();
  const keyOf = (channelId: number, model: string, form: Form) => `${channelId} ${form} ${model}`;

  /** The time within which 95 of a hundred answered, ms; null: too few are known. */
  const p95 = (channelId: number, model: string, form: Form): number | null => {
    const known = times.get(keyOf(channelId, model, form));
    return known && known.all.length >= enough ? percentile95(known.all) : null;
  };

  return {
    p95,
    learn: (channelId: number, model: string, form: Form, ms: number, size: number): void => {
      const key = keyOf(channelId, model, form);
      const known = times.get(key) ?? { all: [], next: 0 };
      times.set(key, known);
      // What its length excuses is no property of the channel.
      known.all[known.next] = Math.max(1, ms - size / charsPerMs);
      known.next = (known.next + 1) % kept;
    },
    /** @param longestMs what one waits at most in any case */
    patience: (
      channelId: number,
      model: string,
      form: Form,
      { size, longestMs }: { size: number; longestMs: number },
    ): { hedgeMs: number | null; deadlineMs: number } => {
      const usual = p95(channelId, model, form);
      const more = size / charsPerMs;
      const floor = form === 'stream' ? floorMs : floorMs * 5;
      const hedge = (usual === null ? floor * 4 : Math.max(usual, floor)) + more;
      // Of a whole answer nobody knows how long it will be.
      const deadlineMs =
        form === 'whole' || usual === null || floorMs === 0
          ? longestMs
          : Math.min(longestMs, Math.max(usual * 4, floor * 5) + more);
      return { hedgeMs: floorMs === 0 ? null : hedge, deadlineMs };
    },
    /** A call of a model: one in ten may be asked twice. */
    called: (model: string): void => {
      saved.set(model, Math.min((saved.get(model) ?? budget.most) + budget.perCall, budget.most));
    },
    /** Takes what one hedge costs; false: too many were made of late. */
    takeHedge: (model: string): boolean => {
      const left = saved.get(model) ?? budget.most;
      if (left < 1) return false;
      saved.set(model, left - 1);
      return true;
    },
  };
};
