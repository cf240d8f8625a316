import { Agent, request } from 'undici';
import * as z from 'zod/mini';
import { timeLimit } from '#server/net/time-limit.ts';
import type { ChatRelay } from '../chat-relay.ts';
import { type DialectPlace, relayOfDialect, worded } from '../dialect.ts';
import { apiUrl } from '../openai-compatible/address.ts';
import { completionOf, createEventReader } from './gemini-answer.ts';
import { geminiBody } from './gemini-request.ts';

type Json = Record<string, unknown>;

const headersOf = (apiKey: string): Record<string, string> =>
  apiKey === '' ? {} : { 'x-goog-api-key': apiKey };

/** Its failures have a number for a code, and the word for it as a status. */
const faultOf = (given: Json): Json => {
  const { code: _code, ...error } = (given['error'] ?? {}) as Json;
  const said = worded(error['message']);
  const code = /exceeds the maximum number of tokens/i.test(said)
    ? 'prompt_too_long'
    : /API key not valid|API_KEY_INVALID/i.test(said)
      ? 'invalid_api_key'
      : undefined;
  return { error: { ...error, ...(code ? { code } : {}) } };
};

/** Gemini's own protocol, generateContent. */
export const createGeminiRelay = (options: DialectPlace): ChatRelay =>
  relayOfDialect({
    kind: 'gemini',
    ...(options.dispatcher && { dispatcher: options.dispatcher }),
    request: (body, stream) => {
      const name = encodeURIComponent(body.model.replace(/^models\//, ''));
      const call = stream ? 'streamGenerateContent' : 'generateContent';
      const url = apiUrl(options.baseUrl, `models/${name}:${call}`);
      if (stream) url.searchParams.set('alt', 'sse');
      return {
        url,
        headers: { ...options.headers, ...headersOf(options.apiKey) },
        json: { ...options.body, ...geminiBody(body) },
      };
    },
    reader: ({ model }) => createEventReader(model),
    answer: ({ model }, given) => completionOf(given, model),
    fault: faultOf,
  });

const agent = new Agent({ connect: { timeout: 10_000 }, maxResponseSize: 4 * 1024 * 1024 });
const listed = z.object({ models: z.array(z.looseObject({ name: z.string() })) });

/** The names of its models that write. Throws when it cannot be asked. */
export const listGeminiModels = async (
  { baseUrl, apiKey, headers, dispatcher = agent }: DialectPlace,
  signal: AbortSignal,
): Promise<string[]> => {
  const url = apiUrl(baseUrl, 'models');
  url.searchParams.set('pageSize', '1000');
  const { statusCode, body } = await request(url, {
    dispatcher,
    signal: AbortSignal.any([signal, timeLimit(15_000)]),
    headers: { ...headers, ...headersOf(apiKey) },
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`the service answered ${statusCode} when asked for its models`);
  }
  return listed
    .parse(await body.json())
    .models.filter(({ supportedGenerationMethods: ways }) =>
      Array.isArray(ways) ? ways.includes('generateContent') : true,
    )
    .map(({ name }) => name.replace(/^models\//, ''))
    .filter((name) => name !== '' && name.length <= 100);
};
