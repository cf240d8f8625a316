import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '#server/db/database.ts';
import type { Instance } from '#server/db/instance.ts';
import { listModels } from '#server/engines/openai-compatible/list-models.ts';
import type { Settings } from '#server/settings.ts';
import type { Catalogue } from './catalogue.ts';
import type { KeyBox } from './channel-key.ts';
import { environmentServices, type Service } from './environment.ts';
import type { createImageChoices } from './image-choices.ts';
import { serviceModels } from './image-models.ts';
import { findLocalServices, localAddresses, localPlace } from './local-services.ts';
import {
  channelIdOf,
  insertLocalChannel,
  lockCatalogue,
  noteEnvironment,
  servedModels,
  setChannelModels,
  setModelImage,
  upsertChannel,
  type NewModel,
} from './model.store.ts';
import { type LocalOffer, localOffer, modelsOfNames, plan } from './new-models.ts';
import { channelsWith, localChannelKey, type RowEngines } from './row-engines.ts';

/** A service is asked for its models again after this, ms; while it cannot be reached, sooner. */
const askAgainMs = 30 * 60_000;
/** How often local models are looked for, ms. */
const localMs = 60_000;
const retryMs = { first: 1_000, longest: 60_000 };

export interface ConnectDeps {
  db: Database;
  settings: Settings;
  log: FastifyBaseLogger;
  /** This process. */
  instance: Pick<Instance, 'id'>;
  keys: KeyBox;
  catalogue: Catalogue;
  engines: RowEngines;
  choicesOf: ReturnType<typeof createImageChoices>;
  builtIn: NewModel[];
}

/** What goes on until the process ends. */
interface Watch extends ConnectDeps {
  closing: AbortSignal;
  /** Does it after so long, ms, unless the process ends before. */
  later: (act: () => Promise<void>, ms: number) => void;
}

/** Offers these models of a channel, and no others. */
const offer = async (
  { db, catalogue }: Watch,
  channelId: number,
  wanted: NewModel[],
  weight = 1,
): Promise<void> => {
  await db.transaction(async (tx) => {
    await lockCatalogue(tx);
    await setChannelModels(tx, channelId, wanted, weight);
  });
  catalogue.forget();
};

/** Does it now and again: soon after a failure, seldom after a success. */
const again = async (watch: Watch, work: () => Promise<string>, wait: number = retryMs.first) => {
  let next: number = askAgainMs;
  let following: number = retryMs.first;
  try {
    watch.log.info(await work());
  } catch (error) {
    if (watch.closing.aborted) return;
    const reason = error instanceof Error ? error.message : 'unknown';
    watch.log.warn({ reason }, `a model service cannot be asked; again in ${wait / 1000} s`);
    next = wait;
    following = Math.min(wait * 2, retryMs.longest);
  }
  watch.later(() => again(watch, work, following), next);
};

/** What all of stable-diffusion-webui's channels offer, one of them asked anew. */
const askForChoices = async (watch: Watch, channelId: number): Promise<string> => {
  const { db, engines, choicesOf, catalogue, closing } = watch;
  const { name, label: _label, ...model } = serviceModels['stable-diffusion-webui'];
  const rows = (await servedModels(db)).filter((row) => row.model.name === name);
  const channels = channelsWith(rows, engines.image);
  await channels.find((each) => each.channelId === channelId)?.engine.choices(closing);
  const choices = await choicesOf(channels);
  await db.transaction(async (tx) => {
    await lockCatalogue(tx);
    await setModelImage(tx, name, {
      ...model.image,
      abilities: [...new Set(channels.flatMap(({ engine }) => engine.abilities))],
      checkpoints: choices.checkpoints.map((each) => ({ ...each, factor: null })),
      default_checkpoint: choices.defaultCheckpoint,
    });
  });
  catalogue.forget();
  return 'a service of images told what it can do';
};

/** Offers what a service has, once it says so. */
const offerAll = async (watch: Watch, channelId: number, service: Service): Promise<void> => {
  const { kind, baseUrl, secret, weight } = service;
  if (kind !== 'openai-compatible') {
    await offer(watch, channelId, plan(kind, []), weight);
    if (kind === 'stable-diffusion-webui') void again(watch, () => askForChoices(watch, channelId));
    return;
  }
  const { openaiModels } = watch.settings;
  if (openaiModels.length > 0)
    return offer(
      watch,
      channelId,
      modelsOfNames(openaiModels, (_, at) => 10 + at),
    );
  void again(watch, async () => {
    const names = await listModels({ baseUrl, apiKey: secret }, watch.closing);
    await offer(watch, channelId, modelsOfNames(names));
    return `the model service told its ${names.length} models`;
  });
};

/** Models of this machine cost nothing. */
const freeModels = (names: readonly string[]): NewModel[] =>
  modelsOfNames([...names], () => 40).map((each) => ({
    ...each,
    factor: 0,
    vipExcluded: false,
    paidOnly: false,
  }));

/**
 * Connects, free of charge, what runs models on this machine, and looks again each minute while
 * nothing but what is built in serves people. What a manager switched off stays off.
 */
const watchLocal = async (watch: Watch, places: readonly string[]): Promise<void> => {
  const { db, log, closing } = watch;
  try {
    const others = (await servedModels(db)).some(({ channel }) => channel.kind !== 'built-in');
    const found = others ? [] : await findLocalServices(places, closing);
    for (const { key, label, baseUrl, models } of found) {
      const id = await db.transaction(async (tx) => {
        await lockCatalogue(tx);
        return insertLocalChannel(tx, { key, label, baseUrl });
      });
      if (id === null) continue;
      await offer(watch, id, freeModels(models));
      log.info(`${label} was found and connected`);
    }
  } catch (error) {
    if (!closing.aborted) log.warn({ err: error }, 'local models cannot be looked for');
  }
  if (!closing.aborted) watch.later(() => watchLocal(watch, places), localMs);
};

/** Writes the channels of this start; gives their numbers, in the order of the services. */
const writeChannels = (
  { db, instance, keys, builtIn }: Watch,
  services: readonly Service[],
): Promise<number[]> =>
  db.transaction(async (tx) => {
    await lockCatalogue(tx);
    const kind = 'built-in';
    const channel = { key: kind, kind, label: '内置', source: kind } as const;
    await setChannelModels(tx, await upsertChannel(tx, channel), builtIn);
    if (services.length === 0) return [];
    await noteEnvironment(
      tx,
      instance.id,
      services.map(({ key }) => key),
    );
    const ids: number[] = [];
    for (const { key, kind, label, baseUrl, secret } of services) {
      const keyEncrypted = secret === '' ? null : keys.seal(secret, key);
      const source = 'environment';
      ids.push(await upsertChannel(tx, { key, kind, label, baseUrl, keyEncrypted, source }));
    }
    return ids;
  });

/** Puts the services of this process into the catalogue, and asks them what they offer. */
export const createConnecting = (deps: ConnectDeps) => {
  const services = environmentServices(deps.settings);
  const places = localAddresses(deps.settings.localModels);
  const closing = new AbortController();
  const timers = new Set<NodeJS.Timeout>();
  const watch: Watch = {
    ...deps,
    closing: closing.signal,
    later: (act, ms) => {
      const timer = setTimeout(() => {
        timers.delete(timer);
        void act();
      }, ms).unref();
      timers.add(timer);
    },
  };
  /** What was offered last of the models on this machine. */
  let offered = '';
  return {
    start: async (): Promise<void> => {
      const channelIds = await writeChannels(watch, services);
      deps.catalogue.forget();
      for (const [at, service] of services.entries())
        await offerAll(watch, channelIds[at] ?? 0, service);
      if (places.length > 0) void watchLocal(watch, places);
    },
    learn: (channelId: number): void => {
      deps.catalogue.forget();
      askForChoices(watch, channelId).then(
        (said) => deps.log.info(said),
        (error: unknown) => deps.log.warn({ err: error }, 'a service of images cannot be asked'),
      );
    },
    offerLocal: async (local: readonly LocalOffer[]): Promise<void> => {
      const { db, catalogue } = deps;
      const same = JSON.stringify(local);
      if (same === offered || (local.length === 0 && offered === '')) return;
      await db.transaction(async (tx) => {
        await lockCatalogue(tx);
        const channel = { key: localChannelKey, label: '本机模型', baseUrl: '' };
        const id = (await insertLocalChannel(tx, channel)) ?? (await channelIdOf(tx, channel.key));
        await setChannelModels(tx, id, local.map(localOffer));
      });
      offered = same;
      catalogue.forget();
    },
    offerService: async (baseUrl: string, names: readonly string[]): Promise<void> => {
      const channel = localPlace(baseUrl);
      const id = await deps.db.transaction(async (tx) => {
        await lockCatalogue(tx);
        return (await insertLocalChannel(tx, channel)) ?? (await channelIdOf(tx, channel.key));
      });
      await offer(watch, id, freeModels(names));
    },
    close: (): void => {
      closing.abort();
      for (const timer of timers) clearTimeout(timer);
    },
  };
};
