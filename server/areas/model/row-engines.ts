import type { FastifyBaseLogger } from 'fastify';
import { modelTypes } from '#contract/kinds.ts';
import { createBuiltInEngine } from '#server/engines/built-in-engine.ts';
import type { ChatEngine } from '#server/engines/chat-engine.ts';
import { type ChatRelay, relayOfEngine } from '#server/engines/chat-relay.ts';
import { createLlamaProcess } from '#server/engines/local/llama-process.ts';
import { createLocalEngine } from '#server/engines/local/local-engine.ts';
import { createLocalSpeech } from '#server/engines/speech/local-speech.ts';
import { findModel, modelFolder } from '#server/engines/local/model-folder.ts';
import type { ImageEngine } from '#server/engines/image-engine.ts';
import { createGuardedFetch } from '#server/net/guarded-fetch.ts';
import type { Settings } from '#server/settings.ts';
import { quotesFromFiles } from '../embedding/file-quotes.ts';
import { help } from '../help/help.service.ts';
import { builtInImages, createBuiltInMedia } from './built-in-models.ts';
import type { Line } from './chat-lines.ts';
import { type ChannelKey, createChannelEngines } from './channel-engines.ts';
import type { KeyBox } from './channel-key.ts';
import type { ServedModel } from './model.store.ts';
import type { MediaEngines, MediaType, WorkChannel } from './resolved-model.ts';

/** What a model is made with at one of its channels; null: the channel does nothing of this kind. */
export interface RowEngines {
  chat: (row: ServedModel) => Line<ChatEngine>[];
  relay: (row: ServedModel) => Line<ChatRelay>[];
  image: (row: ServedModel) => ImageEngine | null;
  media: <T extends MediaType>(type: T, row: ServedModel) => MediaEngines[T] | null;
}

/** The channel of the models that lie on this machine. */
export const localChannelKey = 'local-models';
const isLocal = ({ channel }: ServedModel): boolean => channel.key === localChannelKey;
const isBuiltIn = ({ channel }: ServedModel): boolean => channel.kind === 'built-in';

/** The channels of these rows that have an engine, in their order. */
export const channelsWith = <E>(
  rows: readonly ServedModel[],
  engineOf: (row: ServedModel) => E | null,
): (WorkChannel & { engine: E })[] =>
  rows.flatMap((row) => {
    const { id: channelId, label, options } = row.channel;
    const { upstreamName } = row;
    const engine = engineOf(row);
    const parallel = options.parallel ?? null;
    return engine ? [{ channelId, engine, upstreamName, label, parallel, since: 0 }] : [];
  });

/** The ways to a model that a row is: one for each key. */
const linesOf = <E>(
  row: ServedModel,
  engines: readonly E[],
  keys: readonly ChannelKey[],
): Line<E>[] =>
  engines.map((engine, at) => ({
    channelId: row.channel.id,
    engine,
    upstreamName: row.upstreamName,
    label: row.channel.label,
    parallel: row.channel.options.parallel ?? null,
    key: { mark: keys[at]?.mark ?? '', hint: keys[at]?.hint ?? '' },
    takesKey: keys[at]?.takes ?? null,
  }));

/** With what is built in, by the names of its models. */
export const createRowEngines = (deps: {
  settings: Settings;
  log: FastifyBaseLogger;
  keys: KeyBox;
}) => {
  const { settings, log, keys } = deps;
  const enginesOf = createChannelEngines({
    keys,
    fetch: createGuardedFetch({ allowed: settings.fetchAllowed }),
    filmPollMs: settings.filmPollSeconds * 1000,
    silence: {
      firstMs: settings.imageSilenceSeconds * 1000,
      idleMs: settings.imageSilenceSeconds * 500,
    },
    log,
  });
  const chat = createBuiltInEngine({
    help,
    quoteFiles: quotesFromFiles,
    rate: settings.assistantRate,
  });
  const relay = relayOfEngine(chat);
  const llama = createLlamaProcess();
  const folder = modelFolder(settings.dataDir);
  const local = createLocalEngine({ llama, fileOf: (model) => findModel(folder, model) });
  const localRelay = relayOfEngine(local);
  const localSpeech = createLocalSpeech(folder);
  const images = builtInImages(settings);
  const media = createBuiltInMedia(settings);
  const ofService = <E>(
    row: ServedModel,
    which: (made: NonNullable<ReturnType<typeof enginesOf>>) => readonly E[] | null,
  ): Line<E>[] => {
    const made = enginesOf(row.channel);
    return made ? linesOf(row, which(made) ?? [], made.keys) : [];
  };
  const engines: RowEngines = {
    chat: (row) =>
      isBuiltIn(row)
        ? linesOf(row, [chat], [])
        : isLocal(row)
          ? linesOf(row, [local], [])
          : ofService(row, (made) => made.chat),
    relay: (row) =>
      isBuiltIn(row)
        ? linesOf(row, [relay], [])
        : isLocal(row)
          ? linesOf(row, [localRelay], [])
          : ofService(row, (made) => made.relay),
    image: (row) =>
      (isBuiltIn(row) ? images[row.model.name]?.engine : enginesOf(row.channel)?.image) ?? null,
    media: <T extends MediaType>(type: T, row: ServedModel) => {
      if (row.model.type !== type) return null;
      const all = isBuiltIn(row)
        ? media[row.model.name]?.engines
        : isLocal(row)
          ? localSpeech(row.model.name)
          : enginesOf(row.channel);
      const made = {
        [modelTypes.video]: all?.video,
        [modelTypes.textToSpeech]: all?.speak,
        [modelTypes.speechToText]: all?.hear,
      };
      return (made[type] as MediaEngines[T] | null | undefined) ?? null;
    },
  };
  return { engines, builtIn: { images, media }, close: llama.close };
};
