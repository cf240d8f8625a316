import { estimateTokens } from '#contract/price.ts';
import { type Context, Refusal, type Handlers } from '#server/http/handlers.ts';
import { createKeyLimit, networkKey } from '#server/http/rate-limit.ts';
import type { KnowledgeService } from './embedding.service.ts';

/**
 * Questions of a day that are turned into vectors at the house's cost where nothing else is paid for:
 * of a person, and of all guests and visitors of a network.
 */
const aDay = { person: 2_000, network: 200 };

export const createEmbeddingHandlers = (
  knowledge: KnowledgeService,
): Pick<
  Handlers,
  'embeddingList' | 'passageTokens' | 'askKnowledge' | 'knowledgePassage' | 'passagePage'
> => {
  const limitPerson = createKeyLimit(aDay.person, 86_400, 'questions tried');
  const limitNetwork = createKeyLimit(aDay.network, 86_400, 'questions tried by a network');
  const asker =
    ({ user, ip }: Pick<Context, 'user' | 'ip'>) =>
    (): Promise<boolean> =>
      (user && !user.guest ? limitPerson(String(user.id)) : limitNetwork(networkKey(ip))).then(
        () => true,
        () => false,
      );
  return {
    embeddingList: async ({ query }, { db, user }) => ({
      list: await knowledge.list(db, user?.id ?? null, query),
    }),

    passageTokens: async ({ embedding_key: key, question }, { db, user, ip }) => {
      const base = await knowledge.find(db, key, user?.id ?? null);
      if (!base) throw new Refusal('embedding_missing');
      const mayAsk = asker({ user, ip });
      const { part } = await knowledge.on(db, [base.key], question, user?.id ?? null, { mayAsk });
      return { tokens: estimateTokens(part.text) };
    },

    askKnowledge: async ({ embedding_key: key, question }, { db, user, ip }) => {
      const start = performance.now();
      const list = await knowledge.tryOut(db, key, question, user?.id ?? null, asker({ user, ip }));
      return { list, milliseconds: Math.round(performance.now() - start) };
    },

    passagePage: ({ id }, { db, user, ip }) => {
      const owner = user ?? { person: networkKey(ip), guest: true };
      return knowledge.page(db, id, user?.id ?? null, owner);
    },

    knowledgePassage: ({ id }, { db, user }) => knowledge.passage(db, id, user?.id ?? null),
  };
};
