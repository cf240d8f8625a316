import { Agent, request } from 'undici';
import * as z from 'zod/mini';
import { estimateTokens } from '#contract/price.ts';
import { timeLimit } from '#server/net/time-limit.ts';
import { apiUrl } from '../openai-compatible/address.ts';
import { EmbeddingError, type EmbeddingEngine } from './embedding-engine.ts';

const agent = new Agent({ connect: { timeout: 10_000 }, maxResponseSize: 64 * 1024 * 1024 });

const answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.optional(z.number()), embedding: z.array(z.number()) })),
  usage: z.optional(
    z.looseObject({ total_tokens: z.optional(z.number()), prompt_tokens: z.optional(z.number()) }),
  ),
});

/** Most numbers of a vector that are kept. */
const mostDimensions = 4096;

/** Embeddings of any service that speaks OpenAI's `POST /embeddings`. */
export const createOpenAiEmbedding = (service: {
  baseUrl: string;
  /** Asked for each time: several keys take turns. */
  nextKey: () => string;
  model: string;
}): EmbeddingEngine => ({
  model: service.model,
  batch: 32,
  embed: async (texts, signal) => {
    const apiKey = service.nextKey();
    let status = 0;
    let body: unknown;
    try {
      const response = await request(apiUrl(service.baseUrl, 'embeddings'), {
        method: 'POST',
        dispatcher: agent,
        signal: AbortSignal.any([signal, timeLimit(60_000)]),
        headers: {
          'content-type': 'application/json',
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify({ model: service.model, input: texts, encoding_format: 'float' }),
      });
      status = response.statusCode;
      body = status === 200 ? await response.body.json() : await response.body.text();
    } catch (error) {
      signal.throwIfAborted();
      throw new EmbeddingError('向量服务没有回应', { retriable: true, cause: error });
    }
    if (status !== 200)
      throw new EmbeddingError(
        status === 401 || status === 403
          ? '向量服务没有接受本站的密钥，请联系管理员'
          : '向量服务没有接受这次请求',
        {
          retriable: status === 429 || status >= 500,
          cause: new Error(`the service answered ${status}`, { cause: body }),
        },
      );
    const read = answer.safeParse(body);
    const rows = read.success ? read.data.data : [];
    const vectors: Buffer[] = [];
    for (const [at, { index = at, embedding }] of rows.entries()) {
      const usable = embedding.length > 0 && embedding.length <= mostDimensions;
      if (usable && Number.isInteger(index) && index >= 0 && index < texts.length)
        vectors[index] = Buffer.from(Float32Array.from(embedding).buffer);
    }
    const dimensions = vectors[0]?.length ?? 0;
    for (let at = 0; at < texts.length; at += 1)
      if (!vectors[at] || vectors[at]?.length !== dimensions)
        throw new EmbeddingError('向量服务的回答无法读取', { retriable: true });
    const usage = read.success ? read.data.usage : undefined;
    const told = usage?.total_tokens ?? usage?.prompt_tokens;
    const guessed = texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    const tokens = told !== undefined && Number.isSafeInteger(told) && told >= 0 ? told : guessed;
    return { vectors, tokens };
  },
});
