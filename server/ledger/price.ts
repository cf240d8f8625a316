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
