import type { FastifyBaseLogger } from 'fastify';
import { ProxyAgent } from 'undici';
import * as z from 'zod/mini';
import type { ChatEngine } from '#server/engines/chat-engine.ts';
import { chatServices, type Place } from '#server/engines/chat-service.ts';
import type { ChatRelay } from '#server/engines/chat-relay.ts';
import type { ImageEngine } from '#server/engines/image-engine.ts';
import { createMidjourneyEngine } from '#server/engines/midjourney/midjourney-engine.ts';
import { takesKey } from '#server/engines/openai-compatible/list-models.ts';
import {
  createEngineByModel,
  createRelayByModel,
} from '#server/engines/openai-responses/by-model.ts';
import { createOpenAiImageEngine } from '#server/engines/openai-compatible/openai-image-engine.ts';
import { createStableDiffusionEngine } from '#server/engines/stable-diffusion-webui/stable-diffusion-engine.ts';
import type { Silence } from '#server/engines/silence.ts';
import { createOpenAiSpeechEngine } from '#server/engines/speech/openai-speech-engine.ts';
import type { HearEngine, SpeakEngine } from '#server/engines/speech/speech-engine.ts';
import { createOpenAiVideoEngine } from '#server/engines/video/openai-video-engine.ts';
import { createStabilityVideoEngine } from '#server/engines/video/stability-video-engine.ts';
import type { VideoEngine } from '#server/engines/video/video-engine.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import { keyMark, keysIn, type KeyBox, openedKeys } from './channel-key.ts';
import { imageOfferOf } from './image-models.ts';
import type { KeyMark } from './channel-figures.store.ts';
import type { ChannelRow } from './model.store.ts';

/** A key of a channel without the key. */
export interface ChannelKey extends KeyMark {
  /** Whether the service takes it, asked without a question; null: nobody can tell. */
  takes: () => Promise<boolean | null>;
}

/** Null: the service does nothing of this kind. Of chat there is one for each key. */
interface Engines {
  chat: readonly ChatEngine[] | null;
  /** Passes on what others ask, in their own words. */
  relay: readonly ChatRelay[] | null;
  /** The keys that they go with, one for each. */
  keys: readonly ChannelKey[];
  image: ImageEngine | null;
  video: VideoEngine | null;
  speak: SpeakEngine | null;
  hear: HearEngine | null;
}

/** One for each address: connections are kept open. */
const proxies = new Map<string, ProxyAgent>();
export const throughProxy = (address: string): ProxyAgent => {
  const known =
    proxies.get(address) ??
    new ProxyAgent({
      uri: address,
      connect: { timeout: 10_000 },
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  proxies.set(address, known);
  return known;
};

/** What goes with each request to a channel, and the way it takes. */
export const wireOf = ({
  headers,
  body,
  proxy,
  maker,
}: ChannelRow['options']): Omit<Place, 'baseUrl' | 'apiKey'> => ({
  ...(headers && { headers }),
  ...(body && { body }),
  ...(proxy && { dispatcher: throughProxy(proxy) }),
  ...(maker && { maker }),
});

/** How long it may take to ask about a key, ms. */
const askKeyMs = 10_000;

const none: Engines = {
  chat: null,
  relay: null,
  keys: [],
  image: null,
  video: null,
  speak: null,
  hear: null,
};

/** Several keys stand one a line. */
const keysOf = (secret: string): string[] => {
  const lines = keysIn(secret);
  return lines.length > 0 ? lines : [''];
};

/**
 * One engine of several that are alike but for their keys: each call of a method goes to the next
 * one, so that no key is used up before the others. What is not a method is the first one's.
 */
const inTurn = <T extends object>(engines: readonly T[]): T => {
  if (engines.length === 1) return engines[0]!;
  // Each method has turns of its own: some are asked in between that need no key.
  const turns = new Map<string | symbol, number>();
  return new Proxy(engines[0]!, {
    get: (first, name) => {
      const value: unknown = Reflect.get(first, name);
      if (typeof value !== 'function') return value;
      return (...sent: unknown[]): unknown => {
        const turn = turns.get(name) ?? 0;
        turns.set(name, turn + 1);
        const engine = engines[turn % engines.length]!;
        return (Reflect.get(engine, name) as (...sent: unknown[]) => unknown).apply(engine, sent);
      };
    },
  });
};

const kept = z.object({ turn: z.int(), remote: z.unknown() });

/**
 * The same for films, which are asked after for minutes: a service knows a work by the key that
 * began it, so the key's place is remembered together with what the service calls the work.
 */
const filmsInTurn = (engines: readonly VideoEngine[]): VideoEngine => {
  const first = engines[0]!;
  if (engines.length === 1) return first;
  let next = 0;
  return {
    concurrency: first.concurrency,
    describe: first.describe,
    run: (order, io) => {
      const before = kept.safeParse(io.resume);
      const turn = (before.success ? before.data.turn : next++) % engines.length;
      return engines[turn]!.run(order, {
        ...io,
        resume: before.success ? before.data.remote : io.resume,
        remember: (remote) => io.remember({ turn, remote }),
      });
    },
  };
};

/**
 * The engines of channels that lead to services. They remember what their service refuses and has,
 * so one lives as long as its channel is unchanged. Null: the channel's key cannot be read.
 */
export const createChannelEngines = (deps: {
  keys: KeyBox;
  fetch: GuardedFetch;
  /** Between two questions how a film stands, ms. */
  filmPollMs: number;
  /** How long a service of images may be silent before it is given up. */
  silence: Silence;
  log: Pick<FastifyBaseLogger, 'error'>;
}): ((channel: ChannelRow) => Engines | null) => {
  const { keys, fetch, filmPollMs: pollMs, silence, log } = deps;

  const make = ({ kind, baseUrl, options }: ChannelRow, secret: string): Engines => {
    const wire = wireOf(options);
    const ofKeys = <T>(of: (apiKey: string) => T): T[] => keysOf(secret).map(of);
    switch (kind) {
      case 'stable-diffusion-webui':
        return { ...none, image: createStableDiffusionEngine({ baseUrl, auth: secret, silence }) };
      case 'midjourney':
        return { ...none, image: createMidjourneyEngine({ baseUrl, secret, fetch, silence }) };
      case 'stability':
        return {
          ...none,
          video: filmsInTurn(
            ofKeys((apiKey) => createStabilityVideoEngine({ baseUrl, apiKey, pollMs })),
          ),
        };
      case 'anthropic':
      case 'gemini': {
        const { engine, relay } = chatServices[kind];
        return {
          ...none,
          chat: ofKeys((apiKey) => engine({ baseUrl, apiKey, ...wire })),
          relay: ofKeys((apiKey) => relay({ baseUrl, apiKey, ...wire })),
          // Asking for their models needs words of their own: a key is believed by its calls alone.
          keys: ofKeys((apiKey) => ({ ...keyMark(apiKey), takes: () => Promise.resolve(null) })),
        };
      }
      case 'openai-compatible': {
        const speech = inTurn(
          ofKeys((apiKey) => createOpenAiSpeechEngine({ baseUrl, apiKey, ...wire })),
        );
        return {
          video: filmsInTurn(
            ofKeys((apiKey) => createOpenAiVideoEngine({ baseUrl, apiKey, ...wire, pollMs })),
          ),
          speak: speech,
          hear: speech,
          chat: ofKeys((apiKey) => createEngineByModel({ baseUrl, apiKey, ...wire })),
          relay: ofKeys((apiKey) => createRelayByModel({ baseUrl, apiKey, ...wire })),
          keys: ofKeys((apiKey) => ({
            ...keyMark(apiKey),
            takes: () => takesKey({ baseUrl, apiKey, ...wire }, AbortSignal.timeout(askKeyMs)),
          })),
          image: inTurn(
            ofKeys((apiKey) =>
              createOpenAiImageEngine({
                baseUrl,
                apiKey,
                ...wire,
                fetch,
                silence,
                imageOf: (model) => imageOfferOf(model)?.image ?? null,
              }),
            ),
          ),
        };
      }
      default:
        throw new Error('what is built in has no service');
    }
  };

  const made = new Map<number, { mark: string; engines: Engines | null }>();
  return (channel) => {
    const mark = `${channel.kind} ${channel.baseUrl} ${JSON.stringify(channel.options)} ${channel.keyEncrypted?.toString('base64') ?? ''}`;
    const known = made.get(channel.id);
    if (known?.mark === mark) return known.engines;
    const secret = openedKeys(keys, channel);
    // Said once: the key that would open it comes with another start.
    if (secret === null)
      log.error({ channel: channel.id }, 'the key of a channel cannot be decrypted: SECRET_KEY?');
    const engines = secret === null ? null : make(channel, secret);
    made.set(channel.id, { mark, engines });
    return engines;
  };
};
