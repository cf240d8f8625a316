import type { CacheUse } from '#contract/price.ts';

type Json = Record<string, unknown>;

export const sensibleCount = (count: unknown): count is number =>
  Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= 10_000_000;

/** The first of these that is a count, and no more than that of which it is a part. */
export const partOf = (whole: number, counts: readonly unknown[]): number =>
  Math.min(
    whole,
    (counts.find((count) => sensibleCount(count) && count > 0) as number | undefined) ?? 0,
  );

/** What of a prompt came from a service's cache and went into it, as each maker calls it. */
export const cacheUseIn = (usage: Json, promptTokens: number): Required<CacheUse> => {
  const details = (usage['prompt_tokens_details'] ?? usage['input_tokens_details'] ?? {}) as Json;
  const cachedTokens = partOf(promptTokens, [
    details['cached_tokens'],
    // DeepSeek, Moonshot, and what passes Anthropic's on.
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
    usage['cache_read_input_tokens'],
  ]);
  return {
    cachedTokens,
    cacheWriteTokens: partOf(promptTokens - cachedTokens, [
      details['cache_creation_tokens'],
      details['cache_creation_input_tokens'],
      usage['cache_creation_input_tokens'],
    ]),
  };
};

/** The same of a prompt that was counted anew. */
export const cacheUseWithin = (use: CacheUse | null, promptTokens: number): Required<CacheUse> => {
  const cachedTokens = Math.min(use?.cachedTokens ?? 0, promptTokens);
  return {
    cachedTokens,
    cacheWriteTokens: Math.min(use?.cacheWriteTokens ?? 0, promptTokens - cachedTokens),
  };
};
