import { deduction, type Price } from '#contract/price.ts';

/** Tokens of a call. */
interface Used {
  promptTokens: number;
  completionTokens: number;
}

/** Tokens that a service may say where we count so many: tokenizers differ, and some think unseen. */
const mostLikely = (own: number): number => 4 * own + 64;

/**
 * What a call is billed by. A service that says it took more than was set aside is believed as far as
 * is likely by our own count, or as far as what was set aside pays for.
 * @returns `told` itself where it is believed
 */
export const believable = async (
  price: Price,
  told: Used,
  { held, own }: { held: number; own: () => Promise<Used> },
): Promise<Used> => {
  if (deduction(price, told.promptTokens, told.completionTokens) <= held) return told;
  const counted = await own();
  const promptTokens = Math.min(told.promptTokens, mostLikely(counted.promptTokens));
  const left = price.factor > 0 ? (held - deduction(price, promptTokens, 0)) / price.factor : 0;
  const most = Math.max(mostLikely(counted.completionTokens), Math.floor(left));
  const completionTokens = Math.min(told.completionTokens, most);
  const same = promptTokens === told.promptTokens && completionTokens === told.completionTokens;
  return same ? told : { promptTokens, completionTokens };
};
