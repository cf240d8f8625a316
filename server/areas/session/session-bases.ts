import type { Executor } from '#server/db/database.ts';
import { Refusal } from '#server/http/handlers.ts';
import type { SessionServiceDeps } from './session-deps.ts';

/**
 * The knowledge bases of these keys as a session has them.
 * @throws Refusal embedding_missing where one is not there, or not open to this person
 */
export const basesFor = async (
  { knowledge }: Pick<SessionServiceDeps, 'knowledge'>,
  db: Executor,
  asked: readonly string[],
  userId: number,
): Promise<{ embeddingKey: string; moreEmbeddings: string[] }> => {
  const keys = [...new Set(asked)];
  const found = await knowledge.findAll(db, keys, userId);
  if (found.length < keys.length) throw new Refusal('embedding_missing');
  const [embeddingKey = '', ...moreEmbeddings] = keys;
  return { embeddingKey, moreEmbeddings };
};
