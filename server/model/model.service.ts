import type { FastifyBaseLogger } from 'fastify';
import type { ImageModel } from '../../contract/image.ts';
import { modelTypes, type Model } from '../../contract/model.ts';
import type { Database, Executor } from '../db/database.ts';
import type { Instance } from '../db/instance.ts';
import type { ChatEngine } from '../engines/chat-engine.ts';
import type { ImageChoices, ImageEngine } from '../engines/image-engine.ts';
import { createBuiltInCanvas } from '../engines/built-in-canvas/built-in-canvas.ts';
import { createBuiltInEngine } from '../engines/built-in/built-in-engine.ts';
import { listModels } from '../engines/openai-compatible/list-models.ts';
import { help } from '../help/help.service.ts';
import { createGuardedFetch } from '../http/guarded-fetch.ts';
import type { Settings } from '../settings.ts';
import { createChannelEngines } from './channel-engines.ts';
import { createKeyBox } from './channel-key.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { drawOrder } from './draw.ts';
import { environmentServices, type Service } from './environment.ts';
import { createImageChoices } from './image-choices.ts';
import { canvasImage, imageOfferOf, serviceModels } from './image-models.ts';
import { colorOf, isChatModel, isLowCost, isVisionModel, prettyLabel } from './model-names.ts';
import {
  lockCatalogue,
  noteEnvironment,
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
  /** Takes pictures. */
  vision: boolean;
  builtIn: boolean;
}

/** A model of pictures that can be used now. */
export interface ResolvedImageModel {
  name: string;
  label: string;
  /** Tokens for one picture of size factor 1, where its checkpoint has no other; 0: free. */
  factor: number;
  /** Null: limits.defaultMaxPrompt. */
  maxPrompt: number | null;
  vipExcluded: boolean;
  builtIn: boolean;
  image: ImageModel;
}

/** A service that makes pictures with a model, as one of its channels has it. */
export interface ImageChannel {
  channelId: number;
  engine: ImageEngine;
  /** The model's name at the service. */
  upstreamName: string;
  /** Names the service for people. */
  label: string;
}

export interface ModelService {
  /** Puts the channels of this start into the database. An unreachable service does not delay it. */
  start(): Promise<void>;
  /** What may be offered to people, in the order of offering. */
  list(db: Executor): Promise<Model[]>;
  /** Addresses (scheme, host, port) that the page may read replies from, as last seen. */
  accelerators(): readonly string[];
  /** Null: there is no such model, or nothing serves it any more. */
  find(db: Executor, name: string): Promise<ResolvedModel | null>;
  /** What a session gets that names no model: a low-cost one, or with freeOnly one of factor 0. */
  defaultModel(db: Executor, options: { freeOnly: boolean }): Promise<ResolvedModel>;
  /**
   * The services to try, best first. A channel that keeps failing is left out for a while: the list
   * may be empty. Whoever asks tells by reportOutcome how each one that was tried did.
   */
  engines(
    db: Executor,
    model: ResolvedModel,
  ): Promise<{ channelId: number; engine: ChatEngine; upstreamName: string }[]>;
  /** ok: false for a failure of the service itself, not for a refused prompt or a stopped reply. */
  reportOutcome(channelId: number, ok: boolean): void;
  /** Null: there is no such model of pictures, or nothing serves it any more. */
  findImage(db: Executor, name: string): Promise<ResolvedImageModel | null>;
  /**
   * What a session of pictures gets that names no model: Midjourney's where there is one, else what
   * is built in; with freeOnly one of factor 0. Null: there is none.
   */
  defaultImageModel(
    db: Executor,
    options: { freeOnly: boolean },
  ): Promise<ResolvedImageModel | null>;
  /**
   * The services to try for a model of pictures, in this order: by priority, and among equals drawn
   * by weight. One that keeps failing is left out for a while: the list may be empty.
   */
  imageEngines(db: Executor, name: string): Promise<ImageChannel[]>;
  /**
   * What can be chosen of a model of pictures, as its services say; of one that says nothing now,
   * what it said last. Null: there is no such model.
   */
  imageChoices(db: Executor, name: string): Promise<ImageChoices | null>;
  /** As reportOutcome; what fails at pictures may well go on chatting. */
  reportImageOutcome(channelId: number, ok: boolean): void;
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

/** Changes made by another process are seen within this, ms. */
const cacheMs = 3_000;
/** A service is asked for its models again after this, ms; while it cannot be reached, sooner. */
const askAgainMs = 30 * 60_000;
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
});

/** Null: it is no model of pictures, or nobody knows what it takes. */
const imageOf = (model: ModelRow): ImageModel | null =>
  model.type === modelTypes.image ? (model.image ?? imageOfferOf(model.name)?.image ?? null) : null;

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
    }
  );
};

const present = (model: ModelRow, channel: ChannelRow): Model => ({
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
  const builtIn = createBuiltInEngine({ help, rate: settings.assistantRate });
  const canvases = builtInImages(settings);
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
    log,
  });
  const engineOf = (channel: ChannelRow): ChatEngine | null =>
    channel.kind === 'built-in' ? builtIn : (enginesOf(channel)?.chat ?? null);
  const imageEngineOf = (row: ServedModel): ImageEngine | null =>
    row.channel.kind === 'built-in'
      ? (canvases[row.model.name]?.engine ?? null)
      : (enginesOf(row.channel)?.image ?? null);
  const choicesOf = createImageChoices();

  const chatModel = (name: string, sort: number) => ({
    name,
    label: prettyLabel(name),
    type: modelTypes.chat,
    color: colorOf(name),
    vision: isVisionModel(name),
    sort,
    factor: 1,
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

  /** Those of a service's models that one can chat or make pictures with, each once. */
  const offered = (
    names: readonly string[],
    sortOf: (name: string, at: number) => number,
  ): NewModel[] =>
    [...new Set(names)].flatMap((name, at): NewModel[] => {
      const found = imageOfferOf(name);
      if (found) return [imageModel(name, found)];
      return isChatModel(name) ? [chatModel(name, sortOf(name, at))] : [];
    });

  const services = environmentServices(settings);

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
    const { name, label, ...model } = serviceModels[kind];
    await offer(channelId, [{ ...imageModel(name, model), label }], weight);
    if (kind === 'midjourney') return undefined;
    const askForChoices = async () => {
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
      return 'a service of pictures told what it can do';
    };
    void again(askForChoices, retryMs.first);
    return undefined;
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
    },

    async list(db) {
      const models = new Map<string, Model>();
      for (const { model, channel } of await served(db))
        if (!models.has(model.name)) models.set(model.name, present(model, channel));
      return [...models.values()];
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
      for (const row of await served(db)) {
        if (row.model.name !== model.name || !breaker.allows(row.channel.id)) continue;
        const engine = engineOf(row.channel);
        if (engine)
          found.push({ channelId: row.channel.id, engine, upstreamName: row.upstreamName });
      }
      return found;
    },

    reportOutcome(channelId, ok) {
      breaker.report(channelId, ok);
    },

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
        if (engine && imageBreaker.allows(channelId))
          found.push({ channelId, engine, upstreamName: row.upstreamName, label });
      }
      return found;
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

    reportImageOutcome(channelId, ok) {
      imageBreaker.report(channelId, ok);
    },

    close() {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
