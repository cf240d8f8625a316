import type { Executor } from '#server/db/database.ts';
import { waiterOf } from '#server/db/person.ts';
import { Refusal } from '#server/http/handlers.ts';
import { createKeyLimit } from '#server/http/rate-limit.ts';

/**
 * Tokens of a person's questions in a day that one paid model answers by nothing: nobody pays for them
 * but the house, whose services bill them all the same.
 */
const mostOfDay = 200_000;
/** What one counts as at least. */
const least = 2_000;

const limit = createKeyLimit(mostOfDay, 86_400, 'questions that were answered by nothing');

/** A paid model answered a question of so many tokens without a word. */
export const noteUnanswered = async (
  db: Executor,
  asked: { userId: number; model: string; tokens: number },
): Promise<void> => {
  const { person } = await waiterOf(db, asked.userId);
  await limit(`${person} ${asked.model}`, Math.max(least, asked.tokens)).catch(() => undefined);
};

/** @throws Refusal too_many where a model has answered this person by nothing too often today */
export const requireAnswers = async (person: string, model: string): Promise<void> => {
  try {
    await limit(`${person} ${model}`, 0);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(
      'too_many',
      '这个模型今天多次没有写出内容（都没有收费），请换一个模型，或者明天再试',
      error.data,
    );
  }
};
