import { estimateTokens } from '#contract/price.ts';
import { Refusal, type Handlers } from '#server/http/handlers.ts';
import { askerOf } from '#server/http/rate-limit.ts';
import type { KnowledgeService } from './embedding.service.ts';

export const createEmbeddingHandlers = (
  knowledge: KnowledgeService,
): Pick<
  Handlers,
  'embeddingList' | 'passageTokens' | 'askKnowledge' | 'knowledgePassage' | 'passagePage'
> => {
  return {
    embeddingList: async ({ query }, { db, user }) => ({
      list: await knowledge.list(db, user?.id ?? null, query),
    }),

    passageTokens: async ({ embedding_key: key, question }, { db, user, ip }) => {
      const base = await knowledge.find(db, key, user?.id ?? null);
      if (!base) throw new Refusal('embedding_missing');
      const mayAsk = knowledge.mayAsk(askerOf(user, ip));
      const { part } = await knowledge.on(db, [base.key], question, user?.id ?? null, { mayAsk });
      return { tokens: estimateTokens(part.text) };
    },

    askKnowledge: async ({ embedding_key: key, question }, { db, user, ip }) => {
      const start = performance.now();
      const mayAsk = knowledge.mayAsk(askerOf(user, ip));
      const list = await knowledge.tryOut(db, key, question, user?.id ?? null, mayAsk);
      return { list, milliseconds: Math.round(performance.now() - start) };
    },

    passagePage: ({ id }, { db, user, ip }) =>
      knowledge.page(db, id, user?.id ?? null, askerOf(user, ip)),

    knowledgePassage: ({ id }, { db, user }) => knowledge.passage(db, id, user?.id ?? null),
  };
};
