import { cacheUseIn, cacheUseWithin, partOf, sensibleCount } from '#server/engines/cache-use.ts';
import { ApiRefusal } from '#server/http/open-failure.ts';

export interface Counted {
  promptTokens: number;
  completionTokens: number;
  /** Of the prompt: read from the service's cache, and written to it. */
  cachedTokens: number;
  cacheWriteTokens: number;
  /** Of the answer: thought, as far as the service tells it. */
  reasoningTokens: number;
}

type Json = Record<string, unknown>;

/** The service's own count; null: it gives none. Each maker has names of its own for the parts. */
export const usageIn = (answer: Json): Counted | null => {
  const usage = (answer['usage'] ?? {}) as Json;
  const { prompt_tokens: asked, completion_tokens: said, total_tokens: total } = usage;
  if (!sensibleCount(asked) || !sensibleCount(said)) return null;
  // What was thought stands with some services in the sum alone.
  const all = Math.max(said, sensibleCount(total) ? total - asked : said);
  const thought = (usage['completion_tokens_details'] ?? {}) as Json;
  return {
    promptTokens: asked,
    completionTokens: all,
    ...cacheUseIn(usage, asked),
    reasoningTokens: partOf(all, [
      thought['reasoning_tokens'],
      usage['reasoning_tokens'],
      all - said,
    ]),
  };
};

/** The same with the service's own count put right by this server's. */
export const countedAs = (
  told: Counted | null,
  own: { promptTokens: number; completionTokens: number },
): Counted => ({
  ...own,
  ...cacheUseWithin(told, own.promptTokens),
  reasoningTokens: Math.min(told?.reasoningTokens ?? 0, own.completionTokens),
});

/** In OpenAI's words, with whatever else the service told of it. */
export const usageOf = (counted: Counted, told: unknown): Json => {
  const {
    prompt_tokens_details: details,
    completion_tokens_details: thought,
    ...rest
  } = (told ?? {}) as Json;
  return {
    ...rest,
    prompt_tokens: counted.promptTokens,
    completion_tokens: counted.completionTokens,
    total_tokens: counted.promptTokens + counted.completionTokens,
    prompt_tokens_details: { ...(details as Json | null), cached_tokens: counted.cachedTokens },
    completion_tokens_details: {
      ...(thought as Json | null),
      reasoning_tokens: counted.reasoningTokens,
    },
  };
};

/** Whether a service counted far fewer tokens than anybody else would, or none: its count is wrong. */
export const isTooFew = (told: number, own: number): boolean =>
  own > 4 * told + (told > 0 ? 64 : 0);

/** The one answer of a completion, and why it ended. @throws ApiRefusal where it is no completion */
export const firstChoice = (answer: Json): { message: Json; finish: string } => {
  const [choice] = answer['choices'] as { message?: Json; finish_reason?: string }[];
  if (!choice?.message) throw new ApiRefusal('upstream', '模型没有返回内容，请重试');
  return { message: choice.message, finish: choice.finish_reason ?? 'stop' };
};
