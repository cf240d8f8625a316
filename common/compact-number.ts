/**
 * A number of tokens for people: 950, 1.95 万, 502 万, 2 亿. Cut, not rounded: a balance never looks
 * larger than it is.
 */
export const compactNumber = (value: number): string => {
  const sign = value < 0 ? '-' : '';
  const size = Math.abs(value);
  for (const [unit, word] of [
    [1e8, '亿'],
    [1e4, '万'],
  ] as const) {
    if (size >= unit) {
      // Hundredths first: 20.02 times 100 is a little less than 2002.
      const scaled = Math.floor(size / (unit / 100)) / 100;
      // A space that no line is broken at.
      return `${sign}${scaled >= 100 ? Math.floor(scaled) : scaled}\u00A0${word}`;
    }
  }
  return `${sign}${size}`;
};
