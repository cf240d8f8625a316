import { estimateTokens } from '#contract/price.ts';
import { networkKey } from '#server/http/rate-limit.ts';
import { Refusal, type Handlers } from '#server/http/handlers.ts';
import type { KnowledgeService } from './embedding.service.ts';

export const createEmbeddingHandlers = (
  knowledge: KnowledgeService,
): Pick<
  Handlers,
  'embeddingList' | 'passageTokens' | 'askKnowledge' | 'knowledgePassage' | 'passagePage'
> => ({
  embeddingList: async ({ query }, { db, user }) => ({
    list: await knowledge.list(db, user?.id ?? null, query),
  }),

  passageTokens: async ({ embedding_key: key, question }, { db, user }) => {
    const base = await knowledge.find(db, key, user?.id ?? null);
    if (!base) throw new Refusal('embedding_missing');
    const { part } = await knowledge.on(db, [base.key], question, user?.id ?? null);
    return { tokens: estimateTokens(part.text) };
  },

  askKnowledge: async ({ embedding_key: key, question }, { db, user }) => {
    const start = performance.now();
    const list = await knowledge.tryOut(db, key, question, user?.id ?? null);
    return { list, milliseconds: Math.round(performance.now() - start) };
  },

  passagePage: ({ id }, { db, user, ip }) => {
    const owner = user ?? { person: networkKey(ip), guest: true };
    return knowledge.page(db, id, user?.id ?? null, owner);
  },

  knowledgePassage: ({ id }, { db, user }) => knowledge.passage(db, id, user?.id ?? null),
});
