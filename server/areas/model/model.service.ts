import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { modelTypes } from '../../../contract/kinds.ts';
import { type Model } from '../../../contract/model.ts';
import type { Database, Executor } from '../../db/database.ts';
import type { Instance } from '../../db/instance.ts';
import type { ChatEngine } from '../../engines/chat-engine.ts';
import { type ChatRelay, relayOfEngine } from '../../engines/chat-relay.ts';
import type { ImageChoices, ImageEngine } from '../../engines/image-engine.ts';
import type { ServiceError } from '../../engines/service-wire.ts';
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
import { imageOfferOf, serviceModels } from './image-models.ts';
import { findLocalServices, localAddresses } from './local-services.ts';
import { mediaOfferOf, stabilityFilm, type MediaOffer } from './media-models.ts';
import { priceOfName } from './chat-price-by-name.ts';
import { colorOf, isChatModel, isLowCost, isVisionModel, prettyLabel } from './model-names.ts';
import { builtInImages, builtInModel, createBuiltInMedia } from './built-in-models.ts';
import { type Asker, isUsable } from './usable.ts';
import { acceleratorsOf, present } from './model-view.ts';
import {
  resolve,
  resolveImage,
  type ImageChannel,
  type MediaChannel,
  type MediaEngines,
  type MediaType,
  type ResolvedImageModel,
  type ResolvedMediaModel,
  type ResolvedModel,
} from './resolved-model.ts';
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
  type NewModel,
  type ServedModel,
} from './model.store.ts';

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
  /**
   * What a session gets that names no model: the cheapest that this person may use and whose services
   * do not fail; what is built in where there is nothing else.
   */
  defaultModel(db: Executor, asker: Asker): Promise<ResolvedModel>;
  /** The same out of some models by their names; null: this person may use none of them. */
  cheapestModel(
    db: Executor,
    asker: Asker,
    isOffered: (name: string) => boolean,
  ): Promise<ResolvedModel | null>;
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
   * is built in, of those that this person may use. Null: there is none.
   */
  defaultImageModel(db: Executor, asker: Asker): Promise<ResolvedImageModel | null>;
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
    asker: Asker | 'anybody',
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

/** Changes made by another process are seen within this, ms. */
const cacheMs = 3_000;
/** A service is asked for its models again after this, ms; while it cannot be reached, sooner. */
const askAgainMs = 30 * 60_000;
/** How often local models are looked for, ms. */
const localMs = 60_000;
const retryMs = { first: 1_000, longest: 60_000 };

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
      paidOnly: row.model.paidOnly,
      managersOnly: row.model.managersOnly,
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
          paidOnly: false,
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

  const cheapestModel: ModelService['cheapestModel'] = async (db, asker, isOffered) => {
    const rows = (await served(db)).filter(
      ({ model }) => model.type === modelTypes.chat && model.display && isOffered(model.name),
    );
    const isWell = ({ channel, model }: ServedModel): boolean =>
      !breaker.rests(channel.id, model.name);
    // What is built in comes last, what fails before it; among equals the order of offering counts.
    const rank = (row: ServedModel): number =>
      row.channel.kind === 'built-in' ? 2 : isWell(row) ? 0 : 1;
    const sorted = [...rows].sort(
      (a, b) =>
        rank(a) - rank(b) ||
        a.model.factor - b.model.factor ||
        (a.model.promptFactor ?? a.model.factor) - (b.model.promptFactor ?? b.model.factor),
    );
    for (const row of sorted) {
      const model = resolve(row);
      if (await isUsable(db, model, asker)) return model;
    }
    return null;
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

    async defaultModel(db, asker) {
      const model = await cheapestModel(db, asker, () => true);
      if (!model) throw new Error('no chat model is enabled');
      return model;
    },

    cheapestModel,

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

    async defaultImageModel(db, asker) {
      const found = [];
      for (const model of (await served(db)).map(resolveImage))
        if (model && (await isUsable(db, model, asker))) found.push(model);
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

    async defaultMedia(db, type, asker) {
      const found = [];
      for (const model of (await served(db)).map((row) => resolveMedia(type, row)))
        if (model && (asker === 'anybody' || (await isUsable(db, model, asker)))) found.push(model);
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
