import type { Area, Kit } from '#server/area.ts';
import type { Handlers } from '#server/http/handlers.ts';
import { createLocalModels } from './local-model.service.ts';

export const localModelArea = ({ settings, log, models }: Kit) => {
  const local = createLocalModels({ settings, log, models });
  return {
    seed: () => local.start(),
    drain: () => Promise.resolve(local.close()),
    serve: () =>
      ({
        localModels: () => local.shelf(),
        fetchLocalModel: async ({ key }, { noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.fetch(key) },
            to: { state: 'fetching' },
          });
          return {};
        },
        stopLocalModel: async ({ key }, { noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.stop(key) },
            to: { state: 'waiting' },
          });
          return {};
        },
        removeLocalModel: async ({ key }, { noteAct }) => {
          noteAct({
            subject: `local_model:${key}`,
            from: { state: await local.remove(key) },
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
