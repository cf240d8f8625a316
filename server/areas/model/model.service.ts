import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { ImageModel } from '../../../contract/image.ts';
import { limits } from '../../../contract/limits.ts';
import { modelTypes, type Model } from '../../../contract/model.ts';
import type { Voices } from '../../../contract/speech.ts';
import type { VideoModel } from '../../../contract/video.ts';
import type { Database, Executor } from '../../db/database.ts';
import type { Instance } from '../../db/instance.ts';
import type { ChatEngine } from '../../engines/chat-engine.ts';
import { type ChatRelay, relayOfEngine } from '../../engines/chat-relay.ts';
import type { ImageChoices, ImageEngine } from '../../engines/image-engine.ts';
import type { ServiceError } from '../../engines/service-wire.ts';
import { createBuiltInCanvas } from '../../engines/built-in-canvas/built-in-canvas.ts';
import type { HearEngine, SpeakEngine } from '../../engines/speech/speech-engine.ts';
import { createBuiltInSpeakEngine } from '../../engines/speech/built-in-speak-engine.ts';
import { createLocalHearEngine } from '../../engines/speech/local-hear-engine.ts';
import { createBuiltInVideoEngine } from '../../engines/video/built-in-video-engine.ts';
import type { VideoEngine } from '../../engines/video/video-engine.ts';
import { createBuiltInEngine } from '../../engines/built-in-engine.ts';
import { listModels } from '../../engines/openai-compatible/list-models.ts';
import { help } from '../help/help.service.ts';
import { createGuardedFetch } from '../../net/guarded-fetch.ts';
import type { Settings } from '../../settings.ts';
import { createChannelEngines } from './channel-engines.ts';
import { createChannelHealth } from './channel-health.ts';
import { createKeyBox } from './channel-key.ts';
import { createAskers } from './askers.ts';
import { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts';
import { drawOrder } from './draw.ts';
import { environmentServices, type Service } from './environment.ts';
import { createImageChoices } from './image-choices.ts';
import { canvasImage, imageOfferOf, serviceModels } from './image-models.ts';
import { findLocalServices, localAddresses } from './local-services.ts';
import { mediaOfferOf, stabilityFilm, type MediaOffer } from './media-models.ts';
import { priceOfName } from './chat-price-by-name.ts';
import { colorOf, isChatModel, isLowCost, isVisionModel, prettyLabel } from './model-names.ts';
import {
  insertLocalChannel,
  lockCatalogue,
  noteEnvironment,
  idleModels,
  servedModels,
  setChannelModels,
  setModelImage,
  upsertChannel,
  type ChannelRow,
  type ModelRow,
  type NewModel,
  type ServedModel,
} from './model.store.ts';

/** A model that can be used now. Factors are tokens taken per token; lengths are characters. */
export interface ResolvedModel {
  name: string;
  label: string;
  factor: number;
  /** Null: the factor. */
  promptFactor: number | null;
  /** Null: limits.defaultMaxPrompt. */
  maxPrompt: number | null;
  /** Most tokens of a reply; null: the service decides. */
  maxTokens: number | null;
  vipExcluded: boolean;
  /** Takes images. */
  vision: boolean;
  builtIn: boolean;
  /** The public API may use it, with so many tokens of prompt and answer together. */
  api: boolean;
  apiMaxTokens: number;
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
  builtIn: boolean;
  image: ImageModel;
  /** A manager said which checkpoints people may choose: `image` has these alone. */
  onlyCheckpoints: boolean;
}

/** A service that makes images with a model, as one of its channels has it. */
export interface ImageChannel {
  channelId: number;
  engine: ImageEngine;
  /** The model's name at the service. */
  upstreamName: string;
  /** Names the service for people. */
  label: string;
}

/** A model of films or of speech that can be used now. */
export interface ResolvedMediaModel {
  name: string;
  label: string;
  type: MediaOffer['type'];
  /** Tokens for a film, for a character that is spoken, for a second that is listened to; 0: free. */
  factor: number;
  vipExcluded: boolean;
  builtIn: boolean;
  /** Of a model of films. */
  video: VideoModel | null;
  /** Of a model that speaks; the first is the usual one. */
  voice: Voices | null;
}

/** What each kind of media is made with. */
interface MediaEngines {
  [modelTypes.video]: VideoEngine;
  [modelTypes.textToSpeech]: SpeakEngine;
  [modelTypes.speechToText]: HearEngine;
}
export type MediaType = keyof MediaEngines;

/** A service that makes something with a model, as one of its channels has it. */
export interface MediaChannel<T extends MediaType> {
  channelId: number;
  engine: MediaEngines[T];
  upstreamName: string;
  /** Names the service for people. */
  label: string;
}

export interface ModelService {
  /** Puts the channels of this start into the database. An unreachable service does not delay it. */
  start(): Promise<void>;
  /** What may be offered to people, in the order of offering. */
  list(db: Executor): Promise<Model[]>;
  /** The same and behind them those that nobody can choose now, so that what names them is told. */
  catalogue(db: Executor): Promise<Model[]>;
  /** Addresses (scheme, host, port) that the page may read replies from, as last seen. */
  accelerators(): readonly string[];
  /** Null: there is no such model, or nothing serves it any more. */
  find(db: Executor, name: string): Promise<ResolvedModel | null>;
  /** What a session gets that names no model: a low-cost one, or with freeOnly one of factor 0. */
  defaultModel(db: Executor, options: { freeOnly: boolean }): Promise<ResolvedModel>;
  /**
   * The services to try, best first. A channel that keeps failing is left out for a while where
   * there is another; where there is none this takes a moment. Not to be called in a transaction.
   * Whoever asks tells by reportOutcome how each one that was tried did.
   */
  engines(
    db: Executor,
    model: ResolvedModel,
  ): Promise<{ channelId: number; engine: ChatEngine; upstreamName: string }[]>;
  /** The same for what programs ask in OpenAI's words; `label` names the service for people. */
  relays(
    db: Executor,
    name: string,
  ): Promise<{ channelId: number; relay: ChatRelay; upstreamName: string; label: string }[]>;
  /** Names of the models that the public API may not use. */
  closedToApi(db: Executor): Promise<ReadonlySet<string>>;
  /** ok: false for a failure of the service itself, not for a refused prompt or a stopped reply. */
  reportOutcome(outcome: Outcome): void;
  /** Null: there is no such model of images, or nothing serves it any more. */
  findImage(db: Executor, name: string): Promise<ResolvedImageModel | null>;
  /**
   * What a session of images gets that names no model: Midjourney's where there is one, else what
   * is built in; with freeOnly one of factor 0. Null: there is none.
   */
  defaultImageModel(
    db: Executor,
    options: { freeOnly: boolean },
  ): Promise<ResolvedImageModel | null>;
  /**
   * The services to try for a model of images, in this order: by priority, and among equals drawn
   * by weight. One that keeps failing is left out for a while, as of `engines`.
   */
  imageEngines(db: Executor, name: string): Promise<ImageChannel[]>;
  /**
   * What can be chosen of a model of images, as its services say; of one that says nothing now,
   * what it said last. Null: there is no such model.
   */
  imageChoices(db: Executor, name: string): Promise<ImageChoices | null>;
  /** As reportOutcome; what fails at images may well go on chatting. */
  reportImageOutcome(outcome: Outcome): void;
  /** What a service of this kind offers under these names; those that nobody can use are left out. */
  plan(kind: Exclude<ChannelRow['kind'], 'built-in'>, names: readonly string[]): NewModel[];
  /** What was remembered of the catalogue is read anew: somebody changed it. */
  forget(): void;
  /** Asks a service of images that was just connected what it can do. */
  learn(channelId: number): void;
  /** Null: there is no such model of this kind, or nothing serves it any more. */
  findMedia(db: Executor, type: MediaType, name: string): Promise<ResolvedMediaModel | null>;
  /** What is used where no model is named: what is built in, else the first. Null: there is none. */
  defaultMedia(
    db: Executor,
    type: MediaType,
    options: { freeOnly: boolean },
  ): Promise<ResolvedMediaModel | null>;
  /** The services to try, in this order; one that keeps failing is left out for a while. */
  mediaEngines<T extends MediaType>(
    db: Executor,
    type: T,
    name: string,
  ): Promise<MediaChannel<T>[]>;
  /** As reportOutcome. */
  reportMediaOutcome(outcome: Outcome): void;
  close(): void;
}

const builtInModel = 'builtin-assistant';

/** What draws without any service, by the name of its model. */
const builtInImages = (
  settings: Pick<Settings, 'canvasSeconds'>,
): Readonly<
  Record<
    string,
    { label: string; color: string; remark: string; image: ImageModel; engine: ImageEngine }
  >
> => {
  const engine = createBuiltInCanvas({ seconds: settings.canvasSeconds });
  return {
    'builtin-canvas': {
      label: '内置画板',
      color: '#0f766e',
      remark: '内置、免费、不联网。不是神经网络模型：按词语和种子画的程序化图画',
      image: canvasImage([...engine.abilities]),
      engine,
    },
  };
};

/** What films and speaks without any service, by the name of its model. */
const createBuiltInMedia = (settings: Pick<Settings, 'filmSeconds' | 'speechModelDir'>) => {
  const without = { video: null, speak: null, hear: null };
  const models: Record<
    string,
    Pick<NewModel, 'label' | 'color' | 'remark' | 'sort'> & {
      type: MediaType;
      engines: { video: VideoEngine | null; speak: SpeakEngine | null; hear: HearEngine | null };
    }
  > = {
    'builtin-film': {
      label: '内置视频',
      type: modelTypes.video,
      color: '#0e7490',
      remark: '内置、免费、不联网。不是神经网络模型：镜头在图片的远近之间推拉、平移',
      sort: 920,
      engines: {
        ...without,
        video: createBuiltInVideoEngine({ seconds: settings.filmSeconds }),
      },
    },
    'builtin-voice': {
      label: '内置朗读',
      type: modelTypes.textToSpeech,
      color: '#4d7c0f',
      remark: '内置、免费、不联网。不是神经网络模型：espeak-ng 按规则合成的声音',
      sort: 930,
      engines: { ...without, speak: createBuiltInSpeakEngine() },
    },
  };
  if (settings.speechModelDir !== '')
    models['local-speech'] = {
      label: '本机识别',
      type: modelTypes.speechToText,
      color: '#0369a1',
      remark: '在本机上识别语音，不联网（sherpa-onnx）',
      sort: 940,
      engines: { ...without, hear: createLocalHearEngine(settings.speechModelDir) },
    };
  return models;
};

/** Changes made by another process are seen within this, ms. */
const cacheMs = 3_000;
/** A service is asked for its models again after this, ms; while it cannot be reached, sooner. */
const askAgainMs = 30 * 60_000;
/** How often local models are looked for, ms. */
const localMs = 60_000;
const retryMs = { first: 1_000, longest: 60_000 };

const resolve = ({ model, channel }: ServedModel): ResolvedModel => ({
  name: model.name,
  label: model.label,
  factor: model.factor,
  promptFactor: model.promptFactor,
  maxPrompt: model.maxPrompt,
  maxTokens: model.maxTokens,
  vipExcluded: model.vipExcluded,
  vision: model.vision,
  builtIn: channel.kind === 'built-in',
  api: !model.disableApi,
  apiMaxTokens: model.apiMaxTokens ?? limits.apiTokens,
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

const resolveImage = ({ model, channel }: ServedModel): ResolvedImageModel | null => {
  const image = imageOf(model);
  return (
    image && {
      name: model.name,
      label: model.label,
      factor: model.factor,
      maxPrompt: model.maxPrompt,
      vipExcluded: model.vipExcluded,
      builtIn: channel.kind === 'built-in',
      image,
      onlyCheckpoints: (model.imageChoice?.checkpoints.length ?? 0) > 0,
    }
  );
};

/** Of the size codes 0 to 3 (documents 1 and 2 §9); larger ones count as the last. */
const sizeRates = [0.7, 0.8, 0.9, 1];

/** What the specification calls things, beside our own names. */
const flatFields = (model: ModelRow) => {
  const image = imageOf(model);
  const factors = (image?.checkpoints ?? []).map(
    ({ name, factor }) => [name, factor ?? model.factor] as const,
  );
  const sizes = image?.sizes ?? [];
  return {
    unique_key: model.name,
    remarks: model.remark,
    factors: Object.fromEntries(factors),
    checkpoints: factors.map(([name]) => name),
    default_checkpoint: image?.default_checkpoint ?? '',
    sizes,
    size_limit: sizes,
    size_rate: image ? sizeRates : [],
    disable: 0,
    disable_api: model.disableApi ? 1 : 0,
    vip: model.vipExcluded ? 1 : 0,
    // Nobody has a model of their own here: what is trained is a style or a knowledge base.
    private: 0,
    // Of a model of images that nobody has told anything of there is nothing to draw with yet.
    status: model.type === modelTypes.image && image === null ? 0 : 1,
  };
};

const present = (
  model: ModelRow,
  channel: ChannelRow,
  media: Pick<ResolvedMediaModel, 'video' | 'voice'>,
): Model => ({
  ...flatFields(model),
  name: model.name,
  label: model.label,
  color: model.color,
  logo: model.logo,
  remark: model.remark,
  type: model.type,
  display: model.display,
  vision: model.vision,
  built_in: channel.kind === 'built-in',
  vip_excluded: model.vipExcluded,
  max_prompt: model.maxPrompt,
  prompt_factor: model.promptFactor,
  factor: model.factor,
  accelerator: model.accelerator,
  image: imageOf(model),
  ...media,
});

/** The origins of the accelerators; what is no address of the web is left out. */
export const acceleratorsOf = (served: readonly Pick<ServedModel, 'model'>[]): string[] => [
  ...new Set(
    served.flatMap(({ model: { accelerator } }) => {
      if (!URL.canParse(accelerator)) return [];
      const { protocol, origin } = new URL(accelerator);
      return protocol === 'https:' || protocol === 'http:' ? [origin] : [];
    }),
  ),
];

/** How a service did. */
export interface Outcome {
  channelId: number;
  model: string;
  /** Who asked. */
  userId: number;
  ok: boolean;
  /** Of a failure: what the asker was told. */
  told?: string;
  /** What is to be held against the service; what a question itself brought about is not. */
  against?: ServiceError['against'];
}

/** The channels that a breaker chooses, once their turn has come. */
const inTurn = async <C extends { channelId: number }>(
  breaker: CircuitBreaker,
  model: string,
  all: readonly C[],
): Promise<C[]> => {
  const { channels, waitMs } = breaker.choose(model, all);
  if (waitMs > 0) await sleep(waitMs, undefined, { ref: false });
  return channels;
};

export const createModelService = (deps: {
  db: Database;
  settings: Settings;
  log: FastifyBaseLogger;
  /** This process. */
  instance: Pick<Instance, 'id'>;
}): ModelService => {
  const { db: pool, settings, log, instance } = deps;
  const keys = createKeyBox(settings.secretKey, settings.dataDir);
  const breaker = createCircuitBreaker();
  const imageBreaker = createCircuitBreaker();
  const mediaBreaker = createCircuitBreaker();
  const builtIn = createBuiltInEngine({ help, rate: settings.assistantRate });
  const builtInMedia = createBuiltInMedia(settings);
  const builtInRelay = relayOfEngine(builtIn);
  const canvases = builtInImages(settings);
  const health = createChannelHealth(pool);
  const askers = createAskers(pool);
  const report = (of: CircuitBreaker, outcome: Outcome): void => {
    const { channelId, model, userId, ok, told, against = 'failed' } = outcome;
    if (!ok && against === 'nothing') return;
    health.note(channelId, ok, told);
    if (ok) {
      of.report({ channelId, model, ok });
      return;
    }
    void askers(userId)
      // Counted with all whom nobody knows.
      .catch(() => '')
      .then((person) => of.report({ channelId, model, ok, person, full: against === 'full' }));
  };
  const closing = new AbortController();
  const timers = new Set<NodeJS.Timeout>();

  let cached: { served: ServedModel[]; at: number } | null = null;
  let accelerators: string[] = [];
  let refreshing = false;
  /**
   * Each caller that finds the cache old reads with its own connection: waiting for another one's
   * could lock up when all connections are in transactions that wait here.
   */
  const served = async (db: Executor): Promise<ServedModel[]> => {
    if (cached && Date.now() - cached.at < cacheMs) return cached.served;
    const at = Date.now();
    const rows = await servedModels(db);
    cached = { served: rows, at };
    accelerators = acceleratorsOf(rows);
    return rows;
  };

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
  const engineOf = (channel: ChannelRow): ChatEngine | null =>
    channel.kind === 'built-in' ? builtIn : (enginesOf(channel)?.chat ?? null);
  const imageEngineOf = (row: ServedModel): ImageEngine | null =>
    row.channel.kind === 'built-in'
      ? (canvases[row.model.name]?.engine ?? null)
      : (enginesOf(row.channel)?.image ?? null);
  /** What a row's channel makes media of a kind with; null: nothing. */
  const mediaEngineOf = <T extends MediaType>(
    type: T,
    { model, channel }: ServedModel,
  ): MediaEngines[T] | null => {
    if (model.type !== type) return null;
    const engines =
      channel.kind === 'built-in' ? builtInMedia[model.name]?.engines : enginesOf(channel);
    const made = {
      [modelTypes.video]: engines?.video,
      [modelTypes.textToSpeech]: engines?.speak,
      [modelTypes.speechToText]: engines?.hear,
    };
    return (made[type] as MediaEngines[T] | null | undefined) ?? null;
  };
  /** What a page asks for a model of films or of speech; nothing for all others. */
  const mediaOf = (row: ServedModel): Pick<ResolvedMediaModel, 'video' | 'voice'> => ({
    video: mediaEngineOf(modelTypes.video, row)?.describe(row.upstreamName) ?? null,
    voice:
      row.model.type === modelTypes.textToSpeech
        ? (row.model.voice ??
          mediaEngineOf(modelTypes.textToSpeech, row)?.voices(row.upstreamName) ??
          {})
        : null,
  });
  const resolveMedia = (type: MediaType, row: ServedModel): ResolvedMediaModel | null =>
    mediaEngineOf(type, row) && {
      name: row.model.name,
      label: row.model.label,
      type,
      factor: row.model.factor,
      vipExcluded: row.model.vipExcluded,
      builtIn: row.channel.kind === 'built-in',
      ...mediaOf(row),
    };
  const choicesOf = createImageChoices();

  const chatModel = (name: string, sort: number) => ({
    name,
    label: prettyLabel(name),
    type: modelTypes.chat,
    color: colorOf(name),
    vision: isVisionModel(name),
    sort,
    ...priceOfName(name),
  });

  const imageModel = (name: string, offer: NonNullable<ReturnType<typeof imageOfferOf>>) => ({
    name,
    label: prettyLabel(name),
    type: modelTypes.image,
    color: colorOf(name),
    sort: offer.sort,
    factor: offer.factor,
    vipExcluded: offer.vipExcluded,
    image: offer.image,
  });

  const mediaModel = (name: string, { type, factor, vipExcluded, sort }: MediaOffer) => ({
    name,
    label: prettyLabel(name),
    type,
    color: colorOf(name),
    sort,
    factor,
    vipExcluded,
  });

  /** Those of a service's models that one can chat, draw, film or speak with, each once. */
  const offered = (
    names: readonly string[],
    sortOf: (name: string, at: number) => number,
  ): NewModel[] =>
    [...new Set(names)].flatMap((name, at): NewModel[] => {
      const found = imageOfferOf(name);
      if (found) return [imageModel(name, found)];
      const media = mediaOfferOf(name);
      if (media) return [mediaModel(name, media)];
      return isChatModel(name) ? [chatModel(name, sortOf(name, at))] : [];
    });

  const services = environmentServices(settings);
  const localPlaces = localAddresses(settings.localModels);

  const offer = async (channelId: number, wanted: NewModel[], weight = 1) => {
    await pool.transaction(async (tx) => {
      await lockCatalogue(tx);
      await setChannelModels(tx, channelId, wanted, weight);
    });
    cached = null;
  };

  /** Does it now and again: soon after a failure, seldom after a success. */
  const again = async (work: () => Promise<string>, wait: number): Promise<void> => {
    let next: number = askAgainMs;
    let following: number = retryMs.first;
    try {
      log.info(await work());
    } catch (error) {
      if (closing.signal.aborted) return;
      const reason = error instanceof Error ? error.message : 'unknown';
      log.warn({ reason }, `a model service cannot be asked; again in ${wait / 1000} s`);
      next = wait;
      following = Math.min(wait * 2, retryMs.longest);
    }
    const timer = setTimeout(() => {
      timers.delete(timer);
      void again(work, following);
    }, next).unref();
    timers.add(timer);
  };

  /** Offers what a service has, once it says so. */
  const offerAll = async (channelId: number, service: Service): Promise<void> => {
    const { kind, baseUrl, secret, weight } = service;
    if (kind === 'openai-compatible') {
      if (settings.openaiModels.length > 0)
        return offer(
          channelId,
          offered(settings.openaiModels, (_, at) => 10 + at),
        );
      const askForModels = async () => {
        const names = await listModels(baseUrl, secret, closing.signal);
        await offer(
          channelId,
          offered(names, (name) => (isLowCost(name) ? 50 : 100)),
        );
        return `the model service told its ${names.length} models`;
      };
      void again(askForModels, retryMs.first);
      return undefined;
    }
    if (kind === 'stability') {
      const { name, label, ...film } = stabilityFilm;
      return offer(channelId, [{ ...mediaModel(name, film), label }], weight);
    }
    const { name, label, ...model } = serviceModels[kind];
    await offer(channelId, [{ ...imageModel(name, model), label }], weight);
    if (kind === 'stable-diffusion-webui') void again(askForChoices(channelId), retryMs.first);
    return undefined;
  };

  /** What all of stable-diffusion-webui's channels offer, one of them asked anew. */
  const askForChoices = (channelId: number) => async (): Promise<string> => {
    const { name, label: _label, ...model } = serviceModels['stable-diffusion-webui'];
    const rows = (await servedModels(pool)).filter((row) => row.model.name === name);
    const channels = rows.flatMap((row) => {
      const engine = imageEngineOf(row);
      return engine ? [{ channelId: row.channel.id, engine }] : [];
    });
    await channels.find((each) => each.channelId === channelId)?.engine.choices(closing.signal);
    const choices = await choicesOf(channels);
    await pool.transaction(async (tx) => {
      await lockCatalogue(tx);
      await setModelImage(tx, name, {
        ...model.image,
        abilities: [...new Set(channels.flatMap(({ engine }) => engine.abilities))],
        checkpoints: choices.checkpoints.map((each) => ({ ...each, factor: null })),
        default_checkpoint: choices.defaultCheckpoint,
      });
    });
    cached = null;
    return 'a service of images told what it can do';
  };

  /**
   * Connects, free of charge, what runs models on this machine, and looks again each minute while
   * nothing but what is built in serves people. What a manager switched off stays off.
   */
  const watchLocal = async (): Promise<void> => {
    try {
      const others = (await servedModels(pool)).some(({ channel }) => channel.kind !== 'built-in');
      const found = others ? [] : await findLocalServices(localPlaces, closing.signal);
      for (const { key, label, baseUrl, models } of found) {
        const id = await pool.transaction(async (tx) => {
          await lockCatalogue(tx);
          return insertLocalChannel(tx, { key, label, baseUrl });
        });
        if (id === null) continue;
        const free = offered(models, () => 40).map((each) => ({
          ...each,
          factor: 0,
          vipExcluded: false,
        }));
        await offer(id, free);
        log.info(`${label} was found and connected`);
      }
    } catch (error) {
      if (!closing.signal.aborted) log.warn({ err: error }, 'local models cannot be looked for');
    }
    if (closing.signal.aborted) return;
    const timer = setTimeout(() => {
      timers.delete(timer);
      void watchLocal();
    }, localMs).unref();
    timers.add(timer);
  };

  return {
    async start() {
      const channelIds = await pool.transaction(async (tx) => {
        await lockCatalogue(tx);
        const builtInId = await upsertChannel(tx, {
          key: 'built-in',
          kind: 'built-in',
          label: '内置',
          source: 'built-in',
        });
        await setChannelModels(tx, builtInId, [
          {
            name: builtInModel,
            label: '内置助手',
            type: modelTypes.chat,
            color: '#475569',
            remark: '内置、免费、不联网。不是神经网络模型：查帮助，算算术、日期和单位',
            factor: 0,
            sort: 900,
          },
          ...Object.entries(canvases).map(([name, { label, color, remark, image }]) => ({
            name,
            label,
            type: modelTypes.image,
            color,
            remark,
            image,
            factor: 0,
            sort: 910,
          })),
          ...Object.entries(builtInMedia).map(([name, { label, type, color, remark, sort }]) => ({
            name,
            label,
            type,
            color,
            remark,
            sort,
            factor: 0,
          })),
        ]);
        if (services.length === 0) return [];
        await noteEnvironment(
          tx,
          instance.id,
          services.map(({ key }) => key),
        );
        const ids: number[] = [];
        for (const { key, kind, label, baseUrl, secret } of services)
          ids.push(
            await upsertChannel(tx, {
              key,
              kind,
              label,
              baseUrl,
              keyEncrypted: secret === '' ? null : keys.seal(secret, key),
              source: 'environment',
            }),
          );
        return ids;
      });
      cached = null;
      for (const [at, service] of services.entries()) await offerAll(channelIds[at] ?? 0, service);
      if (localPlaces.length > 0) void watchLocal();
    },

    async list(db) {
      const models = new Map<string, Model>();
      for (const row of await served(db)) {
        const { model, channel } = row;
        if (!models.has(model.name)) models.set(model.name, present(model, channel, mediaOf(row)));
      }
      return [...models.values()];
    },

    async catalogue(db) {
      const offered = await this.list(db);
      const names = new Set(offered.map(({ name }) => name));
      const absent = (await idleModels(db)).filter(({ model }) => !names.has(model.name));
      return [
        ...offered,
        ...absent.map(({ model, channel }) => ({
          ...present(model, channel, { video: null, voice: null }),
          display: false,
          disable: 1,
        })),
      ];
    },

    accelerators() {
      // Asked for with each answer: what is old is read again without anybody waiting for it.
      if (!refreshing && (!cached || Date.now() - cached.at >= cacheMs)) {
        refreshing = true;
        served(pool)
          .catch((error: unknown) => log.warn({ err: error }, 'models cannot be read for now'))
          .finally(() => {
            refreshing = false;
          });
      }
      return accelerators;
    },

    async find(db, name) {
      const row = (await served(db)).find((each) => each.model.name === name);
      return row && row.model.type === modelTypes.chat ? resolve(row) : null;
    },

    async defaultModel(db, { freeOnly }) {
      const rows = (await served(db)).filter((each) => each.model.type === modelTypes.chat);
      const row = freeOnly ? rows.find((each) => each.model.factor === 0) : rows[0];
      if (!row) throw new Error('no chat model is enabled');
      return resolve(row);
    },

    async engines(db, model) {
      const found = [];
      const rows = (await served(db)).filter((each) => each.model.name === model.name);
      for (const row of drawOrder(rows)) {
        const engine = engineOf(row.channel);
        if (engine)
          found.push({ channelId: row.channel.id, engine, upstreamName: row.upstreamName });
      }
      return inTurn(breaker, model.name, found);
    },

    async relays(db, name) {
      const rows = (await served(db)).filter(
        ({ model }) => model.name === name && model.type === modelTypes.chat,
      );
      const found = drawOrder(rows).flatMap(({ channel, upstreamName }) => {
        const relay =
          channel.kind === 'built-in' ? builtInRelay : (enginesOf(channel)?.relay ?? null);
        return relay ? [{ channelId: channel.id, relay, upstreamName, label: channel.label }] : [];
      });
      return inTurn(breaker, name, found);
    },

    async closedToApi(db) {
      return new Set(
        (await served(db)).filter(({ model }) => model.disableApi).map(({ model }) => model.name),
      );
    },

    reportOutcome: (outcome) => report(breaker, outcome),

    async findImage(db, name) {
      const row = (await served(db)).find((each) => each.model.name === name);
      return row ? resolveImage(row) : null;
    },

    async defaultImageModel(db, { freeOnly }) {
      const found = (await served(db))
        .map(resolveImage)
        .filter((model) => model !== null)
        .filter((model) => !freeOnly || model.factor === 0);
      return (
        found.find((model) => model.image.family === 'midjourney') ??
        found.find((model) => model.builtIn) ??
        found[0] ??
        null
      );
    },

    async imageEngines(db, name) {
      const found: ImageChannel[] = [];
      const rows = (await served(db)).filter(
        ({ model }) => model.name === name && model.type === modelTypes.image,
      );
      for (const row of drawOrder(rows)) {
        const { id: channelId, label } = row.channel;
        const engine = imageEngineOf(row);
        if (engine) found.push({ channelId, engine, upstreamName: row.upstreamName, label });
      }
      return inTurn(imageBreaker, name, found);
    },

    async imageChoices(db, name) {
      const rows = (await served(db)).filter(
        ({ model }) => model.name === name && model.type === modelTypes.image,
      );
      if (rows.length === 0) return null;
      return choicesOf(
        rows.flatMap((row) => {
          const engine = imageEngineOf(row);
          return engine ? [{ channelId: row.channel.id, engine }] : [];
        }),
      );
    },

    reportImageOutcome: (outcome) => report(imageBreaker, outcome),

    plan(kind, names) {
      if (kind === 'openai-compatible')
        return offered(names, (name) => (isLowCost(name) ? 50 : 100));
      if (kind === 'embedding' || kind === 'replicate') return [];
      if (kind === 'stability') {
        const { name, label, ...film } = stabilityFilm;
        return [{ ...mediaModel(name, film), label }];
      }
      const { name, label, ...model } = serviceModels[kind];
      return [{ ...imageModel(name, model), label }];
    },

    forget() {
      cached = null;
    },

    learn(channelId) {
      cached = null;
      askForChoices(channelId)().then(
        (said) => log.info(said),
        (error: unknown) => log.warn({ err: error }, 'a service of images cannot be asked'),
      );
    },

    async findMedia(db, type, name) {
      for (const row of await served(db)) {
        const found = row.model.name === name ? resolveMedia(type, row) : null;
        if (found) return found;
      }
      return null;
    },

    async defaultMedia(db, type, { freeOnly }) {
      const found = (await served(db))
        .map((row) => resolveMedia(type, row))
        .filter((model) => model !== null)
        .filter((model) => !freeOnly || model.factor === 0);
      return found.find((model) => model.builtIn) ?? found[0] ?? null;
    },

    async mediaEngines(db, type, name) {
      const rows = (await served(db)).filter(({ model }) => model.name === name);
      const found = drawOrder(rows).flatMap((row) => {
        const { id: channelId, label } = row.channel;
        const engine = mediaEngineOf(type, row);
        return engine ? [{ channelId, engine, upstreamName: row.upstreamName, label }] : [];
      });
      return inTurn(mediaBreaker, name, found);
    },

    reportMediaOutcome: (outcome) => report(mediaBreaker, outcome),

    close() {
      health.close();
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
