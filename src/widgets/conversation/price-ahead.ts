import { imagesOf, type Attachments } from '@/platform/attach/attach-store.ts';
import { deduction, estimateTokens } from '@contract/price.ts';
import { limits } from '@contract/limits.ts';
import type { Model } from '@contract/model.ts';

/** A message and its reply, as they go along with later questions. */
export interface Pair {
  human: string;
  ai: string;
  /** Tokens of its pictures. */
  pictures: number;
  /** Characters of its files. */
  files: number;
}

/** Tokens that a message costs beside its text; the reply that is held ahead. As the server counts. */
const tokensAround = 4;
const heldAhead = 256;
/** Tokens of a character of a file of which nothing more is known. */
const tokensOfChar = 0.6;

export const priceOf = (model: Model) => ({
  factor: model.factor,
  promptFactor: model.prompt_factor,
});

/** Tokens of the newest pairs that fit before the question. `pairs`: newest first. */
export const contextTokens = (pairs: readonly Pair[], maxPrompt: number): number => {
  let room = maxPrompt;
  let tokens = 0;
  for (const { human, ai, pictures, files } of pairs) {
    const filed = Math.min(files, limits.fileText);
    room -= human.length + ai.length + filed;
    if (room < 0) break;
    tokens += estimateTokens(human) + estimateTokens(ai) + 2 * tokensAround;
    tokens += pictures + Math.ceil(filed * tokensOfChar);
  }
  return tokens;
};

/** Tokens of what is being written: its words, pictures and files, of which no more goes than fits. */
export const draftTokens = (text: string, attachments: Attachments, maxPrompt: number): number => {
  const chars = attachments.items.reduce((sum, item) => sum + item.chars, 0);
  const tokens = attachments.items.reduce(
    (sum, item) => sum + (item.tokens ?? item.chars * tokensOfChar),
    0,
  );
  const fits = chars > maxPrompt ? maxPrompt / chars : 1;
  return (
    estimateTokens(text) +
    tokensAround +
    Math.ceil(tokens * fits) +
    imagesOf(attachments).length * limits.imageTokens[attachments.detail]
  );
};

/** What asking costs before a word of the reply, and what must be there to begin at all. */
export const priceAhead = (model: Model, tokens: number): { asking: number; needed: number } => ({
  asking: deduction(priceOf(model), tokens, 0),
  needed: deduction(priceOf(model), tokens, heldAhead),
});

/** 0.4k, 12k: what a price looks like in a few characters. */
export const roughly = (tokens: number): string => {
  if (tokens < 50) return '0.1k';
  return tokens < 10_000 ? `${(tokens / 1000).toFixed(1)}k` : `${Math.round(tokens / 1000)}k`;
};
