import type { LocalOffer } from './new-models.ts';
import type { FastifyBaseLogger } from 'fastify';
import type { Model } from '#contract/model.ts';
import type { Database, Executor } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import type { Settings } from '#server/settings.ts';
import { createCatalogue } from './catalogue.ts';
import { createKeyBox, type KeyBox, openedKeys } from './channel-key.ts';
import { createOutcomes } from './channel-outcomes.ts';
import { createChatModels, type ChatModels } from './chat-models.service.ts';
import { createConnecting } from './connect-services.ts';
import { createImageChoices } from './image-choices.ts';
import { createImageModels, type ImageModels } from './image-models.service.ts';
import { createMediaModels, mediaOf, type MediaModels } from './media-models.service.ts';
import { idleModels, sealedChannels } from './model.store.ts';
import { present, presentFor } from './model-view.ts';
import { groupOf } from '../ledger/group-of.ts';
import { byModel, rowsFor } from './open-rows.ts';
import { type Asker, usableOf } from './usable.ts';
import { builtInModels } from './new-models.ts';
import { createRowEngines } from './row-engines.ts';

export type ListedFor = Pick<NonNullable<Asker>, 'id'> | null | 'anybody';

export interface ModelService extends ChatModels, ImageModels, MediaModels {
  /** Puts the channels of this start into the database. An unreachable service does not delay it. */
  start(): Promise<void>;
  /**
   * What may be offered to a person at the price that their group pays, in the order of offering;
   * null: to a visitor; anybody: at its own price, whomever its channels serve.
   */
  list(db: Executor, asker: ListedFor): Promise<Model[]>;
  /** The same without what this person may not use. */
  usable(db: Executor, asker: Asker): Promise<Model[]>;
  /** What `list` gives and behind it those that nobody can choose now, so that what names them is told. */
  catalogue(db: Executor, asker: ListedFor): Promise<Model[]>;
  /** Addresses (scheme, host, port) that the page may read replies from, as last seen. */
  accelerators(): readonly string[];
  /** Names of the models that the public API may not use. */
  closedToApi(db: Executor): Promise<ReadonlySet<string>>;
  /** What was remembered of the catalogue is read anew: somebody changed it. */
  forget(): void;
  /** Asks a service of images that was just connected what it can do. */
  learn(channelId: number): void;
  /** Offers these models that lie on this machine, free of charge, and no others. */
  offerLocal(models: readonly LocalOffer[]): Promise<void>;
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
  const outcomes = createOutcomes(pool, deps.instance.id, settings.modelHedgeMs);
  const choicesOf = createImageChoices();
  const { engines, builtIn: own, close: closeEngines } = createRowEngines({ settings, log, keys });
  const builtIn = builtInModels(own);
  const connecting = createConnecting({ ...deps, keys, catalogue, engines, choicesOf, builtIn });

  const list: ModelService['list'] = async (db, asker) => {
    const rows = await served(db);
    const id = asker === 'anybody' ? null : (asker?.id ?? null);
    const models = byModel(asker === 'anybody' ? rows : await rowsFor(db, rows, id));
    const group = await groupOf(db, id);
    return [...models.values()].map((rows) => {
      const [row] = rows;
      const shown = present(row.model, row.channel, mediaOf(engines, row), row.upstreamName);
      return presentFor(shown, rows, group?.factor ?? 1);
    });
  };

  return {
    ...createChatModels(catalogue, engines, outcomes.chat, log),
    ...createImageModels(catalogue, engines, outcomes.image, choicesOf),
    ...createMediaModels(catalogue, engines, outcomes.media),
    start: connecting.start,
    list,
    usable: async (db, asker) => usableOf(db, await list(db, asker), asker),

    async catalogue(db, asker) {
      const offered = await list(db, asker);
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

/** How many channels have keys, and of how many the box does not open them. */
export const countSealed = async (
  db: Executor,
  box: () => KeyBox,
): Promise<{ sealed: number; closed: number }> => {
  const sealed = await sealedChannels(db);
  if (sealed.length === 0) return { sealed: 0, closed: 0 };
  const keys = box();
  return {
    sealed: sealed.length,
    closed: sealed.filter((channel) => openedKeys(keys, channel) === null).length,
  };
};
