import { estimateTokens } from '../../contract/price.ts';
import { Refusal, type Handlers } from '../http/handlers.ts';
import { find, knowledgeOn, list } from './embedding.service.ts';

export const createEmbeddingHandlers = (): Pick<Handlers, 'embeddingList' | 'passageTokens'> => ({
  embeddingList: async (_input, { db, user }) => ({ list: await list(db, user?.id ?? null) }),

  passageTokens: async ({ embedding_key: key, question }, { db, user }) => {
    const base = await find(db, key, user?.id ?? null);
    if (!base) throw new Refusal('embedding_missing');
    return { tokens: estimateTokens(await knowledgeOn(db, base.key, question)) };
  },
});
