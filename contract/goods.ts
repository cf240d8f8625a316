/** What is sold and for how much (document 3 §9). The server works prices out anew by the same lines. */

/** How many may be bought at once. */
export const quantities = {
  token: { min: 1, max: 100 },
  vip: { min: 1, max: 12 },
} as const;

export const tokensOfMillion = 1_000_000;
/** What comes with either edition of the source code, tokens. */
export const editionBonus = 2_000_000;

/** For whoever's link somebody registered by, tokens; and how long such a link can be used, days. */
export const invitation = { tokens: 250_000, days: 3 } as const;

/** An order that is not paid closes after this, ms. */
export const orderLifetime = 2 * 3_600_000;

/** How often the page asks whether an order is paid, ms. */
export const orderPolling = 2_000;

export interface Quote {
  /** Cents without and with the discount. */
  full: number;
  amount: number;
  /** Percent taken off. */
  off: number;
}

const quote = (full: number, off: number): Quote => ({
  full,
  off,
  // All prices are whole yuan, so that whole percents of them are whole cents.
  amount: (full * (100 - off)) / 100,
});

/** Of so many million tokens: 20 yuan each, 5 % off from 100 yuan, 10 % from 400. */
export const tokenQuote = (millions: number): Quote => {
  const full = millions * 2000;
  return quote(full, full >= 40_000 ? 10 : full >= 10_000 ? 5 : 0);
};

/** Of so many months of membership: 26 yuan each, 10 % off from 6, 20 % from 12. */
export const vipQuote = (months: number): Quote =>
  quote(months * 2600, months >= 12 ? 20 : months >= 6 ? 10 : 0);

/** The editions of the source code by their level. */
export const editions = [
  { level: 1, type: 'code', name: '基础版', amount: 39_800 },
  { level: 2, type: 'code-pro', name: '高级版', amount: 198_000 },
] as const;

/** What an edition costs whoever has one of this level already (0: none); null: nothing to buy. */
export const editionAmount = (level: 1 | 2, has: number): number | null => {
  if (has >= level) return null;
  const paid = editions.find((each) => each.level === has)?.amount ?? 0;
  return (editions.find((each) => each.level === level)?.amount ?? 0) - paid;
};
