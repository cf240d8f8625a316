/** What is sold and for how much (document 3 §9). The server works prices out anew by the same lines. */

/** How many may be bought at once. */
export const quantities = {
  token: { min: 1, max: 100 },
  vip: { min: 1, max: 12 },
} as const;

export const tokensOfMillion = 1_000_000;

/** What a million tokens of a model with this factor cost, yuan. */
export const yuanOfMillion = (factor: number): number =>
  Number(((factor * tokenPrice.each) / 100).toFixed(4));

interface Price {
  /** Of one, cents. */
  each: number;
  /** What is taken off, percent, from so much on: cents of the full price, or a number bought. */
  off: readonly { from: number; percent: number }[];
}

/** Of a million tokens; taken off by the full price. */
export const tokenPrice: Price = {
  each: 2_000,
  off: [
    { from: 10_000, percent: 5 },
    { from: 40_000, percent: 10 },
  ],
};

/** Of a month of membership; taken off by the number of months. */
export const vipPrice: Price = {
  each: 2_600,
  off: [
    { from: 6, percent: 10 },
    { from: 12, percent: 20 },
  ],
};
/** What comes with either edition of the source code, tokens. */
export const editionBonus = 2_000_000;

/** What whoever's link somebody registered by gets. */
export const invitation = {
  tokens: 250_000,
  /** How long such a link can be used. */
  days: 3,
  /** Registrations a day that bring tokens: more than friends there are, fewer than make a business. */
  aDay: 20,
  /** Of one network in a day so many bring them at once. */
  ofNetwork: 3,
  /** And of all networks of one provider of IPv6 (its /32). */
  ofProvider: 9,
  /** The others, and those from the inviter's own network or provider, once they were active on so many days. */
  activeDays: 3,
} as const;

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

const quote = ({ each, off }: Price, count: number, by: number): Quote => {
  const full = each * count;
  const percent = off.filter(({ from }) => by >= from).at(-1)?.percent ?? 0;
  // All prices are whole yuan, so that whole percents of them are whole cents.
  return { full, off: percent, amount: (full * (100 - percent)) / 100 };
};

export const tokenQuote = (millions: number): Quote =>
  quote(tokenPrice, millions, tokenPrice.each * millions);

export const vipQuote = (months: number): Quote => quote(vipPrice, months, months);

/** What is taken off, in words: 满 100 元减 5%，满 400 元减 10%. */
export const tokenOffText = tokenPrice.off
  .map(({ from, percent }) => `满 ${from / 100} 元减 ${percent}%`)
  .join('，');
export const vipOffText = vipPrice.off
  .map(({ from, percent }) => `满 ${from} 个月减 ${percent}%`)
  .join('，');

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
