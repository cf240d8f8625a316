import type { Area, Kit } from '../../area.ts';
import type { Handlers } from '../../http/handlers.ts';
import { createLocalModels } from './local-model.service.ts';

export const localModelArea = ({ settings, log, models }: Kit) => {
  const local = createLocalModels({ settings, log, models });
  return {
    seed: () => local.start(),
    drain: () => Promise.resolve(local.close()),
    serve: () =>
      ({
        localModels: () => local.shelf(),
        fetchLocalModel: async ({ key }) => {
          await local.fetch(key);
          return {};
        },
        stopLocalModel: async ({ key }) => {
          await local.stop(key);
          return {};
        },
        removeLocalModel: async ({ key }) => {
          await local.remove(key);
          return {};
        },
        saveLocalMirrors: async ({ mirrors }) => ({ mirrors: await local.saveMirrors(mirrors) }),
      }) satisfies Partial<Handlers>,
  } satisfies Area;
};
