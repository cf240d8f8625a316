import { createKeyCount, tooMany } from '#server/http/rate-limit.ts';

/** What one counts as at least, tokens. */
const least = 2_000;
const day = 86_400;

// Only accounts pay, and each of them is one person.
const modelKey = (userId: number, model: string): string => `${userId} ${model}`;

/**
 * Tokens of a person's questions in a day that one paid model answers by nothing, and all paid models:
 * nobody pays for them but the house, whose services bill them all the same.
 */
const ofModel = createKeyCount(200_000, day, 'questions that were answered by nothing');
const ofAll = createKeyCount(400_000, day, 'questions that any model answered by nothing');

/** A paid model answered a question of so many tokens without a word. */
export const noteUnanswered = async (
  userId: number,
  model: string,
  tokens: number,
): Promise<void> => {
  const counted = Math.max(least, tokens);
  await ofModel.add(modelKey(userId, model), counted);
  await ofAll.add(String(userId), counted);
};

/** @throws Refusal too_many where a model, or all of them, answered this person by nothing too often today */
export const requireAnswers = async (userId: number, model: string): Promise<void> => {
  const one = await ofModel.usedUp(modelKey(userId, model));
  if (one > 0)
    throw tooMany(one, '这个模型今天多次没有写出内容（都没有收费），请换一个模型，或者明天再试');
  const all = await ofAll.usedUp(String(userId));
  if (all > 0)
    throw tooMany(all, '今天多次没有写出内容（都没有收费），请换成免费的模型，或者明天再试');
};
