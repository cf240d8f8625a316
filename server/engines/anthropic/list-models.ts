import { listModelsAt } from '../openai-compatible/list-models.ts';
import { apiUrl } from '../openai-compatible/address.ts';
import type { DialectPlace } from '../dialect.ts';
import { anthropicHeaders } from './anthropic-relay.ts';

/** The names of all models that a service has. Throws when it cannot be asked. */
export const listAnthropicModels = (
  { baseUrl, apiKey, headers, dispatcher }: DialectPlace,
  signal: AbortSignal,
): Promise<string[]> => {
  const url = apiUrl(baseUrl, 'models');
  url.searchParams.set('limit', '1000');
  return listModelsAt(url, { ...headers, ...anthropicHeaders(apiKey) }, signal, dispatcher);
};
