import * as z from 'zod/mini';
import { call } from './call.ts';

/** A knowledge base: texts that a question's passages are looked up in. */
export const embedding = z.object({
  key: z.string(),
  name: z.string(),
  desc: z.string(),
  private: z.int(),
  built_in: z.boolean(),
});
export type Embedding = z.output<typeof embedding>;

export const embeddingCalls = {
  embeddingList: call({
    method: 'GET',
    path: '/api/embedding_list',
    access: 'public',
    summary: '可以提问的知识库',
    input: z.object({}),
    output: z.object({ list: z.array(embedding) }),
  }),
};
