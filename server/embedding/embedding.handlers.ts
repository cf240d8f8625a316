import type { Handlers } from '../http/handlers.ts';
import { list } from './embedding.service.ts';

export const createEmbeddingHandlers = (): Pick<Handlers, 'embeddingList'> => ({
  embeddingList: async (_input, { db, user }) => ({ list: await list(db, user?.id ?? null) }),
});
