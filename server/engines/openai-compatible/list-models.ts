import { Agent, type Dispatcher, request } from 'undici';
import * as z from 'zod/mini';
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
  /** Left out: straight to the service. */
  dispatcher: Dispatcher = agent,
): Promise<string[]> => {
  const { statusCode, body } = await request(url, {
    dispatcher,
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

/** A service with its key; `headers` go with each request, and through `dispatcher` it is asked. */
interface Place extends Service {
  apiKey: string;
  headers?: Record<string, string>;
  dispatcher?: Dispatcher;
}

/** Whether a service takes a key, by the list of its models; null: that tells nothing. */
export const takesKey = async (place: Place, signal: AbortSignal): Promise<boolean | null> => {
  try {
    const { statusCode, body } = await request(listUrl(place), {
      dispatcher: place.dispatcher ?? agent,
      signal,
      headers: { ...place.headers, ...keyHeaders(place, place.apiKey) },
    });
    await body.dump();
    if (statusCode === 401 || statusCode === 403) return false;
    return statusCode === 200 ? true : null;
  } catch {
    return null;
  }
};

/** The names of all models that a service has, of every kind. Throws when it cannot be asked. */
export const listModels = (place: Place, signal: AbortSignal): Promise<string[]> =>
  listModelsAt(
    listUrl(place),
    { ...place.headers, ...keyHeaders(place, place.apiKey) },
    signal,
    place.dispatcher,
  );
