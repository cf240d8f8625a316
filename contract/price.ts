import type { ImageModel } from './image.ts';
import { partsOfToken, tokenWeights } from './token-weights.ts';

/** What a model costs: tokens taken per token of the prompt and of the reply (document 3 §9). */
export interface Price {
  /** Null: the factor counts for the prompt too. */
  promptFactor: number | null;
  factor: number;
  /** Of what the service read from its cache, and never more than of the rest; null or left out: the same. */
  cachedFactor?: number | null;
  /** Of what the service wrote into its cache; null or left out: as of the rest. */
  writtenFactor?: number | null;
  /**
   * Parts of this price that the channels take which answer, by their numbers, the dearest all of it.
   * Left out: each takes all.
   */
  rates?: Readonly<Record<number, number>>;
}

/** Tokens of a prompt that its service read from its cache, or wrote into it. */
export interface CacheUse {
  cachedTokens?: number;
  cacheWriteTokens?: number;
}

/** Without the tail of a float, which would count as one more. */
const ceil = (amount: number): number => Math.ceil(Math.round(amount * 1e6) / 1e6);

/** A price in tokens as a group pays it, or at a channel. */
export const timesFactor = (amount: number, factor: number): number =>
  factor === 1 ? amount : ceil(amount * factor);

/**
 * The price at the channel that answered.
 * @param channelId null: nobody knows which did, and nobody shall pay for a dearer one
 */
export const priceAt = <P extends Price>(price: P, channelId: number | null): P => {
  const rates = Object.values(price.rates ?? {});
  if (rates.length === 0) return price;
  const rate = channelId === null ? Math.min(...rates) : (price.rates?.[channelId] ?? 1);
  return rate === 1 ? price : pricedBy(price, rate);
};

/** The same a number of times. */
export const pricedBy = <P extends Price>(price: P, rate: number): P => {
  const times = (each: number | null | undefined) =>
    typeof each === 'number' ? each * rate : each;
  return {
    ...price,
    factor: price.factor * rate,
    promptFactor: times(price.promptFactor) ?? null,
    cachedFactor: times(price.cachedFactor),
    writtenFactor: times(price.writtenFactor),
  };
};

/** The price that a hold is made for: all of a prompt may be written into the service's cache. */
export const dearest = <P extends Price>(price: P): P => {
  const prompt = price.promptFactor ?? price.factor;
  const written = price.writtenFactor ?? prompt;
  return written > prompt ? { ...price, promptFactor: written } : price;
};

/** Tokens to deduct for a reply (decisions, "Tokens and money"). */
export const deduction = (
  price: Price,
  promptTokens: number,
  completionTokens: number,
  { cachedTokens = 0, cacheWriteTokens = 0 }: CacheUse = {},
): number => {
  const prompt = price.promptFactor ?? price.factor;
  const whole = promptTokens * prompt + completionTokens * price.factor;
  const cached = Math.min(price.cachedFactor ?? prompt, prompt);
  const written = price.writtenFactor ?? prompt;
  const less = cachedTokens * (prompt - cached);
  const more = cacheWriteTokens * (written - prompt);
  return less === 0 && more === 0 && !price.rates ? Math.ceil(whole) : ceil(whole - less + more);
};

export const isFree = (price: Price): boolean =>
  price.factor === 0 && (price.promptFactor ?? 0) === 0;

/**
 * Tokens of the text, guessed from its letters: never too low for Chinese or English prose, and for
 * letters that were chosen to cost much no less than half. Costs next to nothing: for holds and
 * limits, where a count is made good later.
 */
export const estimateTokens = (text: string): number => estimateUpTo(text, Infinity);

/** The same, but no further than to the first letter that makes it more than so many. */
export const estimateUpTo = (text: string, most: number): number => {
  const weights = tokenWeights();
  const mostParts = most * partsOfToken;
  let parts = 0;
  for (let at = 0; at < text.length && parts <= mostParts; at += 1)
    parts += weights[text.charCodeAt(at)]!;
  return Math.ceil(parts / partsOfToken);
};

/** What the model is told about the work, in tokens. */
const taskTokens = 90;

/** Tokens that a translation of words will take, guessed. */
export const translationDeduction = (writer: Price, words: string): number => {
  const tokens = estimateTokens(words);
  return deduction(writer, taskTokens + tokens, tokens + 10);
};

/** What one image costs before its size: the checkpoint's factor where it has one, else the model's. */
export const imageFactor = (
  model: { factor: number; image: Pick<ImageModel, 'checkpoints' | 'default_checkpoint'> },
  checkpoint: string | undefined,
): number => {
  const name = checkpoint ?? model.image.default_checkpoint;
  return model.image.checkpoints.find((each) => each.name === name)?.factor ?? model.factor;
};

/** Of the size codes 0 to 3 (documents 1 and 2 §9); larger ones count as the last. */
export const usualSizeRates: readonly number[] = [0.7, 0.8, 0.9, 1];

/** What the finest quality of GPT's images costs its service, against the usual one. */
const finest = 4;

/** How many times as much an image costs that is made so fine. DALL-E 3 has its own rule by size. */
export const qualityRate = (family: string, hd: boolean): number =>
  family === 'openai' && hd ? finest : 1;

/**
 * Tokens for images: `n × factor × size factor` (decisions; documents 1 and 2 §9). The size is its
 * code. DALL-E 3's sizes above 7 count 1.5 in the HD variant, otherwise 2.
 */
export const imageDeduction = (image: {
  n: number;
  /** As of `imageFactor`. */
  factor: number;
  size: number;
  dalle3: boolean;
  hd: boolean;
  /** As of `qualityRate`; left out: 1. */
  quality?: number;
  /** Left out: as usual. */
  rates?: readonly number[];
}): number => {
  const { n, factor, size, dalle3, hd, quality = 1, rates = usualSizeRates } = image;
  const wide = dalle3 && size > 7;
  const sizeFactor = wide ? (hd ? 1.5 : 2) : (rates[Math.min(size, rates.length - 1)] ?? 1);
  // Tenths of tenths: 3 × 1 × 0.7 is 2.1, and not a little more.
  return Math.ceil(Math.round(n * factor * sizeFactor * quality * 1e6) / 1e6);
};

/**
 * How many images are made where nobody chose a number: as many as the model usually makes, or as
 * what is left pays for.
 * @param left tokens; null: whoever asks pays nothing for them
 */
export const usualCount = (
  model: {
    factor: number;
    image: Pick<ImageModel, 'checkpoints' | 'default_checkpoint' | 'default_count' | 'family'>;
    rates?: readonly number[];
  },
  asked: { size: number; checkpoint: string | undefined; hd: boolean },
  left: number | null,
): number => {
  const { image, rates } = model;
  const cost = (n: number) =>
    imageDeduction({
      n,
      factor: imageFactor(model, asked.checkpoint),
      size: asked.size,
      dalle3: image.family === 'dalle',
      hd: asked.hd,
      quality: qualityRate(image.family, asked.hd),
      ...(rates ? { rates } : {}),
    });
  if (left === null) return image.default_count;
  let n = image.default_count;
  while (n > 1 && cost(n) > left) n -= 1;
  return n;
};

/** Tokens for a film (decisions: factor per video). */
export const videoDeduction = (model: { factor: number }): number => Math.ceil(model.factor);

/** Tokens for a recording of so many seconds (decisions: factor per second of audio). */
export const hearingDeduction = (model: { factor: number }, seconds: number): number =>
  Math.ceil(Math.round(Math.ceil(seconds) * model.factor * 1e6) / 1e6);

/** Tokens for words that are spoken (decisions: factor per character). */
export const speakingDeduction = (model: { factor: number }, characters: number): number =>
  Math.ceil(Math.round(characters * model.factor * 1e6) / 1e6);
