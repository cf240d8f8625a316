import type { FastifyBaseLogger } from 'fastify';
import type { Model } from '#contract/model.ts';
import type { Database, Executor } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import type { Settings } from '#server/settings.ts';
import { createCatalogue } from './catalogue.ts';
import { createKeyBox } from './channel-key.ts';
import { createOutcomes } from './channel-outcomes.ts';
import { createChatModels, type ChatModels } from './chat-models.service.ts';
import { createConnecting } from './connect-services.ts';
import { createImageChoices } from './image-choices.ts';
import { createImageModels, type ImageModels } from './image-models.service.ts';
import { createMediaModels, mediaOf, type MediaModels } from './media-models.service.ts';
import { idleModels } from './model.store.ts';
import { present } from './model-view.ts';
import { builtInModels } from './new-models.ts';
import { createRowEngines } from './row-engines.ts';

export interface ModelService extends ChatModels, ImageModels, MediaModels {
  /** Puts the channels of this start into the database. An unreachable service does not delay it. */
  start(): Promise<void>;
  /** What may be offered to people, in the order of offering. */
  list(db: Executor): Promise<Model[]>;
  /** The same and behind them those that nobody can choose now, so that what names them is told. */
  catalogue(db: Executor): Promise<Model[]>;
  /** Addresses (scheme, host, port) that the page may read replies from, as last seen. */
  accelerators(): readonly string[];
  /** Names of the models that the public API may not use. */
  closedToApi(db: Executor): Promise<ReadonlySet<string>>;
  /** What was remembered of the catalogue is read anew: somebody changed it. */
  forget(): void;
  /** Asks a service of images that was just connected what it can do. */
  learn(channelId: number): void;
  /** Offers these models that lie on this machine, free of charge, and no others. */
  offerLocal(models: readonly { key: string; label: string }[]): Promise<void>;
  /** Offers what a service on this machine has now, free of charge. */
  offerService(baseUrl: string, names: readonly string[]): Promise<void>;
  close(): void;
}

export const createModelService = (deps: {
  db: Database;
  settings: Settings;
  log: FastifyBaseLogger;
  /** This process. */
  instance: Pick<Instance, 'id'>;
}): ModelService => {
  const { db: pool, settings, log } = deps;
  const keys = createKeyBox(settings.secretKey, settings.dataDir);
  const catalogue = createCatalogue(pool, log);
  const { served, forget, accelerators } = catalogue;
  const outcomes = createOutcomes(pool, settings.modelHedgeMs);
  const choicesOf = createImageChoices();
  const { engines, builtIn: own, close: closeEngines } = createRowEngines({ settings, log, keys });
  const builtIn = builtInModels(own);
  const connecting = createConnecting({ ...deps, keys, catalogue, engines, choicesOf, builtIn });

  const list = async (db: Executor): Promise<Model[]> => {
    const models = new Map<string, Model>();
    for (const row of await served(db)) {
      const { model, channel } = row;
      if (!models.has(model.name))
        models.set(model.name, present(model, channel, mediaOf(engines, row), row.upstreamName));
    }
    return [...models.values()];
  };

  return {
    ...createChatModels(catalogue, engines, outcomes.chat, log),
    ...createImageModels(catalogue, engines, outcomes.image, choicesOf),
    ...createMediaModels(catalogue, engines, outcomes.media),
    start: connecting.start,
    list,

    async catalogue(db) {
      const offered = await list(db);
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

    accelerators,

    async closedToApi(db) {
      const closed = (await served(db)).filter(({ model }) => model.disableApi);
      return new Set(closed.map(({ model }) => model.name));
    },

    forget,
    learn: connecting.learn,
    offerLocal: connecting.offerLocal,
    offerService: connecting.offerService,

    close() {
      outcomes.close();
      connecting.close();
      closeEngines();
    },
  };
};
