import { callsTools } from '#common/tool-models.ts';
import { thinkingByName, type ThinkingWords } from '#common/thinking-models.ts';
import { isChatService } from '#server/engines/chat-service.ts';
import type { ImageModel } from '#contract/image.ts';
import { modelTypes } from '#contract/kinds.ts';
import { pricedBy } from '#contract/price.ts';
import type { Voices } from '#contract/speech.ts';
import type { VideoModel } from '#contract/video.ts';
import type { ImageEngine } from '#server/engines/image-engine.ts';
import type { HearEngine, SpeakEngine } from '#server/engines/speech/speech-engine.ts';
import type { VideoEngine } from '#server/engines/video/video-engine.ts';
import { imageOfferOf } from './image-models.ts';
import type { MediaOffer } from './media-models.ts';
import type { ModelRow, ServedModel } from './model.store.ts';

/** A model that can be used now. Factors are tokens taken per token; lengths are characters. */
export interface ResolvedModel {
  name: string;
  label: string;
  factor: number;
  /** Null: the factor. */
  promptFactor: number | null;
  /** As of Price: prices are those of the dearest channel that may be asked. */
  rates?: Readonly<Record<number, number>>;
  /** Of what its service wrote into a cache; null: as the rest of the prompt. */
  writtenFactor: number | null;
  /** The only groups of people that may use it; null: everybody. */
  openTo: readonly number[] | null;
  /** Of what its service read from a cache; null: as the rest of the prompt. */
  cachedFactor: number | null;
  /** Null: limits.defaultMaxPrompt. */
  maxPrompt: number | null;
  /** Most tokens of a reply; null: the service decides. */
  maxTokens: number | null;
  vipExcluded: boolean;
  paidOnly: boolean;
  managersOnly: boolean;
  /** Takes images. */
  vision: boolean;
  /** How it is told to think long or little; null: there is no choice. */
  thinking: ThinkingWords | null;
  /** It calls tools. */
  tools: boolean;
  builtIn: boolean;
  /** The public API may use it. */
  api: boolean;
  /** Most tokens of prompt and answer together there; null: limits.apiTokens, if its caller chose no other. */
  apiMaxTokens: number | null;
}

/** A model of images that can be used now. */
export interface ResolvedImageModel {
  name: string;
  label: string;
  /** Tokens for one image of size factor 1, where its checkpoint has no other; 0: free. */
  factor: number;
  /** Null: limits.defaultMaxPrompt. */
  maxPrompt: number | null;
  vipExcluded: boolean;
  paidOnly: boolean;
  managersOnly: boolean;
  /** As of ResolvedModel. */
  openTo: readonly number[] | null;
  builtIn: boolean;
  /** What its sizes cost, by their codes; null: as usual. */
  sizeRates: readonly number[] | null;
  image: ImageModel;
  /** A manager said which checkpoints people may choose: `image` has these alone. */
  onlyCheckpoints: boolean;
}

/** One of a model's channels for one work that is no chat. */
export interface WorkChannel {
  channelId: number;
  /** The model's name at the service. */
  upstreamName: string;
  /** Names the service for people. */
  label: string;
  /** As of a line of chats. */
  parallel: number | null;
  /** When its engine was last asked for the work, as performance.now() has it. */
  since: number;
}

/** A service that makes images with a model, as one of its channels has it. */
export interface ImageChannel extends WorkChannel {
  engine: ImageEngine;
}

/** A model of films or of speech that can be used now. */
export interface ResolvedMediaModel {
  name: string;
  label: string;
  type: MediaOffer['type'];
  /** Tokens for a film, for a character that is spoken, for a second that is listened to; 0: free. */
  factor: number;
  vipExcluded: boolean;
  paidOnly: boolean;
  managersOnly: boolean;
  /** As of ResolvedModel. */
  openTo: readonly number[] | null;
  builtIn: boolean;
  /** Of a model of films. */
  video: VideoModel | null;
  /** Of a model that speaks; the first is the usual one. */
  voice: Voices | null;
}

/** What each kind of media is made with. */
export interface MediaEngines {
  [modelTypes.video]: VideoEngine;
  [modelTypes.textToSpeech]: SpeakEngine;
  [modelTypes.speechToText]: HearEngine;
}
export type MediaType = keyof MediaEngines;

/** A service that makes something with a model, as one of its channels has it. */
export interface MediaChannel<T extends MediaType> extends WorkChannel {
  engine: MediaEngines[T];
}

/** How a model is told to think long or little: as was learned, or as its names say. */
export const thinkingOf = (
  model: Pick<ModelRow, 'name' | 'type' | 'thinking'>,
  kind: ServedModel['channel']['kind'],
  upstreamName = model.name,
): ThinkingWords | null =>
  model.type !== modelTypes.chat || !isChatService(kind)
    ? null
    : (model.thinking ?? thinkingByName(upstreamName) ?? thinkingByName(model.name));

/** Whether a model calls tools: as was learned, or as its name says; what is built in does by rules. */
export const toolsOf = (
  model: Pick<ModelRow, 'name' | 'type' | 'tools'>,
  kind: ServedModel['channel']['kind'],
): boolean =>
  model.type === modelTypes.chat &&
  (kind === 'built-in' || (isChatService(kind) && (model.tools ?? callsTools(model.name))));

/** Of one person's rows of a model to chat with; the first says what it can. */
export const resolve = (rows: readonly [ServedModel, ...ServedModel[]]): ResolvedModel => {
  const [{ model, channel, upstreamName }] = rows;
  return { ...chatPrice(rows), ...factsOf({ model, channel, upstreamName }) };
};

/** What it costs at the dearest channel, and which part of that at each. */
export const chatPrice = (
  rows: readonly [ServedModel, ...ServedModel[]],
): Pick<ResolvedModel, 'factor' | 'promptFactor' | 'cachedFactor' | 'writtenFactor' | 'rates'> => {
  const [{ model }] = rows;
  const factors = rows.map(({ channel }) => [channel.id, channel.options.factor ?? 1] as const);
  const most = Math.max(...factors.map(([, factor]) => factor));
  const price = {
    factor: model.factor,
    promptFactor: model.promptFactor,
    cachedFactor: model.cachedFactor,
    writtenFactor: model.writtenFactor,
  };
  return factors.every(([, factor]) => factor === 1)
    ? price
    : {
        ...pricedBy(price, most),
        rates: Object.fromEntries(factors.map(([id, factor]) => [id, factor / most])),
      };
};

const factsOf = ({
  model,
  channel,
  upstreamName,
}: Pick<ServedModel, 'model' | 'channel' | 'upstreamName'>) => ({
  name: model.name,
  label: model.label,
  // Whom a channel serves was looked at before.
  openTo: null,
  maxPrompt: model.maxPrompt,
  maxTokens: model.maxTokens,
  vipExcluded: model.vipExcluded,
  paidOnly: model.paidOnly,
  managersOnly: model.managersOnly,
  vision: model.vision,
  thinking: thinkingOf(model, channel.kind, upstreamName),
  tools: toolsOf(model, channel.kind),
  builtIn: channel.kind === 'built-in',
  api: !model.disableApi,
  apiMaxTokens: model.apiMaxTokens,
});

/** Null: it is no model of images, or nobody knows what it takes. */
export const imageOf = (model: ModelRow): ImageModel | null => {
  if (model.type !== modelTypes.image) return null;
  const image = model.image ?? imageOfferOf(model.name)?.image ?? null;
  const chosen = model.imageChoice;
  if (!image || !chosen) return image;
  const { sizes, checkpoints: only, factors } = chosen;
  const checkpoints = image.checkpoints
    .filter(({ name }) => only.length === 0 || only.includes(name))
    .map((each) => ({ ...each, factor: factors[each.name] ?? each.factor }));
  const usual = checkpoints.some(({ name }) => name === image.default_checkpoint);
  return {
    ...image,
    sizes: sizes.length > 0 ? sizes : image.sizes,
    checkpoints,
    default_checkpoint: usual ? image.default_checkpoint : (checkpoints[0]?.name ?? ''),
  };
};

/** @param openTo as of `openTo` of all its rows */
export const resolveImage = (
  { model, channel }: ServedModel,
  openTo: readonly number[] | null,
): ResolvedImageModel | null => {
  const image = imageOf(model);
  return (
    image && {
      name: model.name,
      label: model.label,
      factor: model.factor,
      maxPrompt: model.maxPrompt,
      vipExcluded: model.vipExcluded,
      paidOnly: model.paidOnly,
      managersOnly: model.managersOnly,
      openTo,
      sizeRates: model.sizeRates,
      builtIn: channel.kind === 'built-in',
      image,
      onlyCheckpoints: (model.imageChoice?.checkpoints.length ?? 0) > 0,
    }
  );
};
