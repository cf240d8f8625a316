import { estimateTokens } from '#contract/price.ts';
import { Refusal, type Handlers } from '#server/http/handlers.ts';
import type { KnowledgeService } from './embedding.service.ts';

export const createEmbeddingHandlers = (
  knowledge: KnowledgeService,
): Pick<Handlers, 'embeddingList' | 'passageTokens' | 'askKnowledge' | 'knowledgePassage'> => ({
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

  knowledgePassage: ({ id }, { db, user }) => knowledge.passage(db, id, user?.id ?? null),
});
