import type { FastifyBaseLogger } from 'fastify';
import type { ChatEngine } from '../engines/chat-engine.ts';
import type { ImageEngine } from '../engines/image-engine.ts';
import { createMidjourneyEngine } from '../engines/midjourney/midjourney-engine.ts';
import { createOpenAiCompatibleEngine } from '../engines/openai-compatible/openai-compatible-engine.ts';
import { createOpenAiImageEngine } from '../engines/openai-compatible/openai-image-engine.ts';
import { createStableDiffusionEngine } from '../engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import type { GuardedFetch } from '../http/guarded-fetch.ts';
import type { KeyBox } from './channel-key.ts';
import { imageOfferOf } from './image-models.ts';
import type { ChannelRow } from './model.store.ts';

interface Engines {
  /** Null: the service writes nothing. */
  chat: ChatEngine | null;
  image: ImageEngine;
}

/**
 * The engines of channels that lead to services. They remember what their service refuses and has,
 * so one lives as long as its channel is unchanged. Null: the channel's key cannot be read.
 */
export const createChannelEngines = (deps: {
  keys: KeyBox;
  fetch: GuardedFetch;
  log: Pick<FastifyBaseLogger, 'error'>;
}): ((channel: ChannelRow) => Engines | null) => {
  const { keys, fetch, log } = deps;

  const make = ({ kind, baseUrl }: ChannelRow, secret: string): Engines => {
    switch (kind) {
      case 'stable-diffusion-webui':
        return { chat: null, image: createStableDiffusionEngine({ baseUrl, auth: secret }) };
      case 'midjourney':
        return { chat: null, image: createMidjourneyEngine({ baseUrl, secret, fetch }) };
      case 'openai-compatible':
        return {
          chat: createOpenAiCompatibleEngine({ baseUrl, apiKey: secret }),
          image: createOpenAiImageEngine({
            baseUrl,
            apiKey: secret,
            fetch,
            imageOf: (model) => imageOfferOf(model)?.image ?? null,
          }),
        };
      default:
        throw new Error('what is built in has no service');
    }
  };

  const made = new Map<number, { mark: string; engines: Engines }>();
  return (channel) => {
    const mark = `${channel.kind} ${channel.baseUrl} ${channel.keyEncrypted?.toString('base64') ?? ''}`;
    const known = made.get(channel.id);
    if (known?.mark === mark) return known.engines;
    const secret = channel.keyEncrypted ? keys.open(channel.keyEncrypted, channel.key) : '';
    if (secret === null) {
      log.error({ channel: channel.id }, 'the key of a channel cannot be decrypted: SECRET_KEY?');
      return null;
    }
    const engines = make(channel, secret);
    made.set(channel.id, { mark, engines });
    return engines;
  };
};
