import type { Area, Kit } from '#server/area.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { localAddresses } from '../model/local-services.ts';
import { createLocalModels } from './local-model.service.ts';
import { ollamaModels } from '#server/engines/local/ollama.ts';
import { foundServices } from './local-model.store.ts';
import { createOllamaWork } from './ollama-job.ts';
import { createOllama } from './ollama.service.ts';

export const localModelArea = ({ db, settings, log, models }: Kit) => {
  const local = createLocalModels({ db, settings, log, models });
  const places = localAddresses(settings.localModels);
  const ollama = createOllama({ db, places });
  const offer = async (baseUrl: string): Promise<void> => {
    const names = await ollamaModels(baseUrl);
    if (names && names.length > 0) await models.offerService(baseUrl, names);
  };
  return {
    jobKinds: [local.job, createOllamaWork({ places, offer })],
    seed: () => local.start(),
    drain: async () => local.close(),
    serve: ({ jobs }) =>
      ({
        localModels: async () => {
          const [shelf, pulls] = await Promise.all([local.shelf(), ollama.list()]);
          return { ...shelf, found: await foundServices(db), ollama: pulls };
        },
        pullOllama: async ({ base_url: baseUrl, model }, { user, noteAct }) => {
          await ollama.pull(baseUrl, model, user.id);
          noteAct({ subject: `local_model:${model}`, to: { state: 'pulling' } });
          return {};
        },
        stopOllama: async ({ base_url: baseUrl, model }, { noteAct }) => {
          await ollama.stop(baseUrl, model, jobs);
          noteAct({
            subject: `local_model:${model}`,
            from: { state: 'pulling' },
            to: { state: 'waiting' },
          });
          return {};
        },
        fetchLocalModel: async ({ key }, { user, noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.fetch(key, user.id) },
            to: { state: 'fetching' },
          });
          return {};
        },
        stopLocalModel: async ({ key }, { noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.stop(key, jobs) },
            to: { state: 'waiting' },
          });
          return {};
        },
        removeLocalModel: async ({ key }, { noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.remove(key, jobs) },
            to: { state: 'none' },
          });
          return {};
        },
        saveLocalMirrors: async (input, { noteAct }) => {
          const { before, after } = await local.saveMirrors(input.mirrors);
          noteAct({
            subject: 'local_mirrors',
            from: { mirrors: before },
            to: { mirrors: after },
          });
          return { mirrors: after };
        },
      }) satisfies Partial<Handlers>,
  } satisfies Area;
};
