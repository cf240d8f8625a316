/** What a chat model costs and whether the membership includes it, told by its name. */
export interface NamedPrice {
  /** Tokens taken per token. */
  factor: number;
  vipExcluded: boolean;
  /** Whoever never paid cannot use it. */
  paidOnly: boolean;
}

const price = (factor: number, vipExcluded = false, paidOnly = false): NamedPrice => ({
  factor,
  vipExcluded,
  paidOnly,
});

/**
 * Families of models by the names that services give them; the first that fits counts. The measure
 * is a small model's token: GPT-4 costs 30 of them (document 3, API limits), is there for those who
 * paid and is not part of the membership; what its makers sell at a sixth of that costs a sixth.
 */
const families: readonly [RegExp, NamedPrice][] = [
  [/embed|(^|[-_/.:])(?:bge|gte|e5)(?=$|[-_/.:\d])/i, price(0.05)],
  // Small ones of every family, GPT-4's too.
  [
    /(^|[-_/.:])(?:mini|nano|lite|flash|small|haiku|air|tiny|instant|\d{1,2}b)(?=$|[-_/.:\d])/i,
    price(1),
  ],
  [
    /(^|[-_/.:])(?:gpt-4(?:-32k|-turbo|\.5|-\d{4}|-vision)?|o1(?:-pro|-preview)?|o3-pro|claude-(?:3-|4-)?opus(?:-[\d.-]+)?)(?=$|[:@]|-\d{4}|-preview)/i,
    price(30, true, true),
  ],
  [/(^|[-_/.:])(?:chatgpt-4o|gpt-4o|gpt-4\.\d|gpt-5)/i, price(5, true)],
  [/(^|[-_/.:])(?:o3|o4|claude|gemini[\w.-]*pro|grok|mistral-large|qwen[\w.-]*max)/i, price(5)],
];

/** A connected model's price where nobody said otherwise; one that is not known costs 1. */
export const priceOfName = (name: string): NamedPrice =>
  families.find(([pattern]) => pattern.test(name))?.[1] ?? price(1);
