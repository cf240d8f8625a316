import * as z from 'zod/mini';
import { call, text } from './call.ts';

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
  passageTokens: call({
    method: 'GET',
    path: '/api/passage_tokens',
    access: 'public',
    summary: '一个问题会从知识库带上的资料，大约多少 token；按问题的前 200 个字查找',
    input: z.object({ embedding_key: text(64), question: text(200) }),
    output: z.object({ tokens: z.int() }),
    codes: ['embedding_missing'],
  }),
};
