import { asideOf, type ChatRelay } from '../chat-relay.ts';
import { type DialectPlace, relayOfDialect, worded } from '../dialect.ts';
import { apiUrl } from '../openai-compatible/address.ts';
import { completionOf, createEventReader } from './anthropic-answer.ts';
import { anthropicBody } from './anthropic-request.ts';

type Json = Record<string, unknown>;

const version = '2023-06-01';

/** Its failures, with the codes that others have for what stands there in words alone. */
const faultOf = (given: Json): Json => {
  const error = (given['error'] ?? {}) as Json;
  const said = worded(error['message']);
  const code = /credit balance is too low/i.test(said)
    ? 'insufficient_balance'
    : /prompt is too long|exceed context limit/i.test(said)
      ? 'prompt_too_long'
      : undefined;
  return { error: { ...error, ...(code ? { code } : {}) } };
};

/** The head of every request. */
export const anthropicHeaders = (apiKey: string): Record<string, string> => ({
  'anthropic-version': version,
  ...(apiKey === '' ? {} : { 'x-api-key': apiKey }),
});

/** Any service that speaks Anthropic's messages. */
export const createAnthropicRelay = (options: DialectPlace): ChatRelay => {
  const url = apiUrl(options.baseUrl, 'messages');
  const headers = { ...options.headers, ...anthropicHeaders(options.apiKey) };
  return relayOfDialect({
    kind: 'anthropic',
    ...(options.dispatcher && { dispatcher: options.dispatcher }),
    request: (body, stream) => {
      const betas = asideOf(body).betas ?? [];
      return {
        url,
        headers: betas.length > 0 ? { ...headers, 'anthropic-beta': betas.join(',') } : headers,
        json: { ...options.body, ...anthropicBody(body, stream) },
      };
    },
    reader: ({ model }) => createEventReader(model),
    answer: ({ model }, given) => completionOf(given, model),
    fault: faultOf,
  });
};
