/** The same demo each time: a stream of numbers from 0 to 1 that begins at a seed (mulberry32). */
export const chanceFrom = (seed: number) => {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const whole = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    whole,
    pick: <T>(list: readonly T[]): T => list[whole(0, list.length - 1)]!,
    /** So many different ones of a list. */
    some: <T>(list: readonly T[], count: number): T[] =>
      list
        .map((each) => ({ each, at: next() }))
        .sort((a, b) => a.at - b.at)
        .slice(0, count)
        .map(({ each }) => each),
  };
};
