import { compactNumber } from '#common/compact-number.ts';
import { imagesOf, type Attachments } from '#src/platform/attach/attach-store.ts';
import { deduction, estimateTokens } from '#contract/price.ts';
import { limits } from '#contract/limits.ts';
import type { Model } from '#contract/model.ts';

interface TextSize {
  chars: number;
  /** Undefined: nobody counted them. */
  tokens?: number | undefined;
}

/** A message and its reply, as they go along with later questions. */
export interface Exchange {
  /** Of the message. */
  id: number;
  human: string;
  ai: string;
  /** Tokens of its images. */
  images: number;
  files: readonly TextSize[];
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

/** Tokens of texts that go along, of all of which no more than so many characters do. */
const tokensOf = (texts: readonly TextSize[], most: number): number => {
  const chars = texts.reduce((sum, text) => sum + text.chars, 0);
  const tokens = texts.reduce((sum, text) => sum + (text.tokens ?? text.chars * tokensOfChar), 0);
  return Math.ceil(chars > most ? (tokens * most) / chars : tokens);
};

/** The newest exchanges that fit before the question. `exchanges`: newest first. */
export const fittingExchanges = (
  exchanges: readonly Exchange[],
  maxPrompt: number,
): readonly Exchange[] => {
  let room = maxPrompt;
  const past = exchanges.findIndex(({ human, ai, files }) => {
    const filed = files.reduce((sum, { chars }) => sum + chars, 0);
    room -= human.length + ai.length + Math.min(filed, limits.fileText);
    return room < 0;
  });
  return past < 0 ? exchanges : exchanges.slice(0, past);
};

/** Tokens of those. */
export const contextTokens = (exchanges: readonly Exchange[], maxPrompt: number): number => {
  let tokens = 0;
  for (const { human, ai, images, files } of fittingExchanges(exchanges, maxPrompt)) {
    tokens += estimateTokens(human) + estimateTokens(ai) + 2 * tokensAround;
    tokens += images + tokensOf(files, limits.fileText);
  }
  return tokens;
};

/** Tokens of what is being written: its words, images and files, of which no more goes than fits. */
export const draftTokens = (text: string, attachments: Attachments, maxPrompt: number): number =>
  estimateTokens(text) +
  tokensAround +
  tokensOf(attachments.items, maxPrompt) +
  imagesOf(attachments).length * limits.imageTokens[attachments.detail];

/**
 * What asking costs before a word of the reply, and what must be there to begin at all.
 * @param thought tokens that may be thought first
 */
export const priceAhead = (
  model: Model,
  tokens: number,
  thought: number,
): { asking: number; needed: number } => ({
  asking: deduction(priceOf(model), tokens, 0),
  needed: deduction(priceOf(model), tokens, heldAhead + thought),
});

/** What a price looks like in a few characters: 400, 1.2 万. */
export const roughly = (tokens: number): string => {
  const step = tokens < 10_000 ? 100 : 1000;
  return compactNumber(Math.max(step, Math.round(tokens / step) * step));
};
