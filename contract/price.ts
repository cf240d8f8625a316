import type { ImageModel } from './image.ts';

/** What a model costs: tokens taken per token of the prompt and of the reply (document 3 §9). */
export interface Price {
  /** Null: the factor counts for the prompt too. */
  promptFactor: number | null;
  factor: number;
}

/** Tokens to deduct for a reply (decisions, "Tokens and money"). */
export const deduction = (price: Price, promptTokens: number, completionTokens: number): number =>
  Math.ceil(promptTokens * (price.promptFactor ?? price.factor) + completionTokens * price.factor);

export const isFree = (price: Price): boolean =>
  price.factor === 0 && (price.promptFactor ?? 0) === 0;

/**
 * Tokens of the text, guessed from its letters within some 20 % and never too low for Chinese or
 * English prose. Costs next to nothing: for holds and limits, where a count is made good later.
 */
export const estimateTokens = (text: string): number => {
  let wide = 0;
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 0x2e7f) wide += 1;
  return Math.ceil(wide * 0.85 + (text.length - wide) / 3.2);
};

interface Listed extends Price {
  type: number;
  built_in: boolean;
}

/** The chat model that translates for a person who names none: the cheapest that they may use. */
export const cheapestWriter = <T extends Pick<Listed, 'type' | 'built_in' | 'factor'>>(
  models: readonly T[],
  guest: boolean,
): T | undefined =>
  models
    .filter(({ type, built_in, factor }) => type === 0 && !built_in && (!guest || factor === 0))
    // Among equals the order of offering counts: sorting keeps it.
    .sort((a, b) => a.factor - b.factor)[0];

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
}): number => {
  const { n, factor, size, dalle3, hd } = image;
  const wide = dalle3 && size > 7;
  const sizeFactor = wide ? (hd ? 1.5 : 2) : (7 + Math.min(size, 3)) / 10;
  // Tenths of tenths: 3 × 1 × 0.7 is 2.1, and not a little more.
  return Math.ceil(Math.round(n * factor * sizeFactor * 1e6) / 1e6);
};

/** Tokens for a film (decisions: factor per video). */
export const videoDeduction = (model: { factor: number }): number => Math.ceil(model.factor);

/** Tokens for a recording of so many seconds (decisions: factor per second of audio). */
export const hearingDeduction = (model: { factor: number }, seconds: number): number =>
  Math.ceil(Math.round(Math.ceil(seconds) * model.factor * 1e6) / 1e6);

/** Tokens for words that are spoken (decisions: factor per character). */
export const speakingDeduction = (model: { factor: number }, characters: number): number =>
  Math.ceil(Math.round(characters * model.factor * 1e6) / 1e6);
