import { Agent, request } from 'undici';
import * as z from 'zod/mini';
import type { Maker } from '#contract/makers.ts';
import { keyHeaders, listUrl, type Service } from './makers.ts';
import { timeLimit } from '#server/net/time-limit.ts';

const agent = new Agent({ connect: { timeout: 10_000 }, maxResponseSize: 4 * 1024 * 1024 });

const listed = z.array(z.looseObject({ id: z.string() }));
/** OpenAI's answer, or its list alone (Together). */
const answer = z.union([z.looseObject({ data: listed }), listed]);

/** The names that stand in the list at an address. Throws when it cannot be asked. */
export const listModelsAt = async (
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<string[]> => {
  const { statusCode, body } = await request(url, {
    dispatcher: agent,
    signal: AbortSignal.any([signal, timeLimit(15_000)]),
    headers,
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the service answered ${statusCode} when asked for its models`);
  }
  const models = answer.parse(await body.json());
  return (Array.isArray(models) ? models : models.data)
    .map((model) => model.id)
    .filter((name) => name !== '' && name.length <= 100);
};

/** Whether a service takes a key, by the list of its models; null: that tells nothing. */
export const takesKey = async (
  service: Service,
  apiKey: string,
  signal: AbortSignal,
): Promise<boolean | null> => {
  try {
    const { statusCode, body } = await request(listUrl(service), {
      dispatcher: agent,
      signal,
      headers: keyHeaders(service, apiKey),
    });
    await body.dump();
    if (statusCode === 401 || statusCode === 403) return false;
    return statusCode === 200 ? true : null;
  } catch {
    return null;
  }
};
/** The names of all models that a service has, of every kind. Throws when it cannot be asked. */
export const listModels = (
  baseUrl: string,
  apiKey: string,
  signal: AbortSignal,
  maker?: Maker,
): Promise<string[]> => {
  const service = { baseUrl, maker: maker ?? null };
  return listModelsAt(listUrl(service), keyHeaders(service, apiKey), signal);
};
