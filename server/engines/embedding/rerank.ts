import { Agent, request } from 'undici';
import * as z from 'zod/mini';
import { apiUrl } from '../openai-compatible/address.ts';

/** Says how well each text answers a question, any scale, more being better; null: it did not. */
export type Reranker = (
  question: string,
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<number[] | null>;

const agent = new Agent({ connect: { timeout: 2_000 }, maxResponseSize: 4 * 1024 * 1024 });

const answer = z.looseObject({
  results: z.array(z.looseObject({ index: z.int(), relevance_score: z.number() })),
});

/** A model behind the `POST /rerank` that Jina, Cohere, vLLM and others share. */
export const createReranker =
  (service: { baseUrl: string; nextKey: () => string; model: string }): Reranker =>
  async (question, texts, signal) => {
    const apiKey = service.nextKey();
    try {
      const { statusCode, body } = await request(apiUrl(service.baseUrl, 'rerank'), {
        method: 'POST',
        dispatcher: agent,
        signal,
        headers: {
          'content-type': 'application/json',
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({
          model: service.model,
          query: question,
          documents: texts,
          top_n: texts.length,
        }),
      });
      const read = answer.safeParse(await body.json());
      if (statusCode !== 200 || !read.success) return null;
      const scores = new Map(
        read.data.results.map(({ index, relevance_score: score }) => [index, score]),
      );
      const all = texts.map((_, at) => scores.get(at));
      return all.every((score) => score !== undefined) ? all : null;
    } catch {
      // Their order by words and vectors is good enough.
      return null;
    }
  };
