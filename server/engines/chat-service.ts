import { createAnthropicRelay } from './anthropic/anthropic-relay.ts';
import { listAnthropicModels } from './anthropic/list-models.ts';
import type { ChatEngine } from './chat-engine.ts';
import type { ChatRelay } from './chat-relay.ts';
import { engineOfRelay } from './dialect.ts';
import { createGeminiRelay, listGeminiModels } from './gemini/gemini-relay.ts';
import { listModels } from './openai-compatible/list-models.ts';
import type { OpenAiCompatibleOptions } from './openai-compatible/openai-compatible-engine.ts';
import { createEngineByModel, createRelayByModel } from './openai-responses/by-model.ts';

/** The kinds of service that chat, each with its words. */
export type ChatServiceKind = 'openai-compatible' | 'anthropic' | 'gemini';

/** Where a service is, its key, and what goes with each request. */
export type Place = OpenAiCompatibleOptions;

interface ChatService {
  engine: (place: Place) => ChatEngine;
  relay: (place: Place) => ChatRelay;
  /** The names of its models, of every kind. Throws when it cannot be asked. */
  models: (place: Place, signal: AbortSignal) => Promise<string[]>;
}

export const chatServices: Readonly<Record<ChatServiceKind, ChatService>> = {
  'openai-compatible': {
    engine: createEngineByModel,
    relay: createRelayByModel,
    models: listModels,
  },
  anthropic: {
    engine: (place) => engineOfRelay(createAnthropicRelay(place)),
    relay: createAnthropicRelay,
    models: listAnthropicModels,
  },
  gemini: {
    engine: (place) => engineOfRelay(createGeminiRelay(place)),
    relay: createGeminiRelay,
    models: listGeminiModels,
  },
};

export const isChatService = (kind: string): kind is ChatServiceKind => kind in chatServices;
