import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';

/**
 * Tokens of a person's questions in a day that one paid model answers by nothing, and all paid models:
 * nobody pays for them but the house, whose services bill them all the same.
 */
const mostOfDay = { model: 200_000, all: 400_000 };
/** What one counts as at least. */
const least = 2_000;

const day = 86_400;
const limits = {
  model: createKeyLimit(mostOfDay.model, day, 'questions that were answered by nothing'),
  all: createKeyLimit(mostOfDay.all, day, 'questions that any model answered by nothing'),
};

/** Whose questions (to which model) are refused, until when, ms: known without asking the database. */
const refused = new Map<string, number>();
const mostRefused = 10_000;

// Only accounts pay, and each of them is one person.
const keysOf = (userId: number, model: string) =>
  [
    ['model', `${userId} ${model}`],
    ['all', String(userId)],
  ] as const;

/** A paid model answered a question of so many tokens without a word. */
export const noteUnanswered = async (
  userId: number,
  model: string,
  tokens: number,
): Promise<void> => {
  for (const [kind, key] of keysOf(userId, model))
    try {
      await limits[kind](key, Math.max(least, tokens));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { retry_after: seconds = 3600 } = (error.data ?? {}) as { retry_after?: number };
      if (refused.size >= mostRefused) refused.clear();
      refused.set(key, Date.now() + seconds * 1000);
    }
};

const refusals = {
  model: '这个模型今天多次没有写出内容（都没有收费），请换一个模型，或者明天再试',
  all: '今天多次没有写出内容（都没有收费），请换成免费的模型，或者明天再试',
};

/** @throws Refusal too_many where a model, or all of them, answered this person by nothing too often today */
export const requireAnswers = (userId: number, model: string): void => {
  for (const [kind, key] of keysOf(userId, model)) {
    const left = (refused.get(key) ?? 0) - Date.now();
    if (left > 0)
      throw new Refusal('too_many', refusals[kind], { retry_after: Math.ceil(left / 1000) });
    refused.delete(key);
  }
};
