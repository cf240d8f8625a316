import type { ChatEngine } from '../chat-engine.ts';
import type { ChatBody, ChatRelay } from '../chat-relay.ts';
import { engineOfRelay, relayOfDialect } from '../dialect.ts';
import { createOpenAiRelay } from '../openai-compatible/chat-relay.ts';
import { callUrl, isMadeBy, keyHeaders } from '../openai-compatible/makers.ts';
import {
  createOpenAiCompatibleEngine,
  type OpenAiCompatibleOptions,
} from '../openai-compatible/openai-compatible-engine.ts';
import { completionOf, createEventReader } from './responses-answer.ts';
import { responsesBody, unableToRespond } from './responses-request.ts';

/** OpenAI's models that its chat completions do not know. */
const responsesAlone = /^(?:o[13]-pro|codex-|gpt-5(?:\.\d+)?-(?:pro|codex))/i;

const createResponsesRelay = (options: OpenAiCompatibleOptions): ChatRelay => ({
  ...relayOfDialect({
    ...(options.dispatcher && { dispatcher: options.dispatcher }),
    request: (body, stream) => ({
      url: callUrl(options, 'responses', body.model),
      headers: { ...options.headers, ...keyHeaders(options, options.apiKey) },
      json: { ...options.body, ...responsesBody(body, stream) },
    }),
    reader: ({ model }) => createEventReader(model),
    answer: ({ model }, given) => completionOf(given, model),
    fault: (given) => given,
  }),
  unable: unableToRespond,
});

const needsResponses = (options: OpenAiCompatibleOptions, model: string): boolean =>
  responsesAlone.test(model) && isMadeBy(options, 'openai');

/** Services that speak OpenAI's chat completions; some of OpenAI's own models speak its Responses alone. */
export const createEngineByModel = (options: OpenAiCompatibleOptions): ChatEngine => {
  const chat = createOpenAiCompatibleEngine(options);
  const { stream, ...relay } = createResponsesRelay(options);
  // They think, and take no temperature; a person's is meant for all their models.
  const responses = engineOfRelay({
    ...relay,
    stream: (body, ...more) => stream({ ...body, temperature: undefined }, ...more),
  });
  return {
    write: (request, take) =>
      (needsResponses(options, request.model) ? responses : chat).write(request, take),
  };
};

/** The same for programs. */
export const createRelayByModel = (options: OpenAiCompatibleOptions): ChatRelay => {
  const chat = createOpenAiRelay(options);
  const responses = createResponsesRelay(options);
  const of = ({ model }: ChatBody) => (needsResponses(options, model) ? responses : chat);
  return {
    unable: (body) => of(body).unable?.(body) ?? null,
    adjusts: (body) => of(body).adjusts?.(body) ?? null,
    complete: (body, signal) => of(body).complete(body, signal),
    stream: (body, signal, take) => of(body).stream(body, signal, take),
  };
};
