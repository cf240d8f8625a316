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
        fetchLocalModel: async ({ key }, { noteAct }) => {
          noteAct({ subject: `local_model:${key}`, to: { fetching: true } });
          await local.fetch(key);
          return {};
        },
        stopLocalModel: async ({ key }, { noteAct }) => {
          const fetching = local.isFetching(key);
          noteAct({ subject: `local_model:${key}`, from: { fetching }, to: { fetching: false } });
          await local.stop(key);
          return {};
        },
        removeLocalModel: async ({ key }, { noteAct }) => {
          noteAct({ subject: `local_model:${key}`, from: { kept: true }, to: { kept: false } });
          await local.remove(key);
          return {};
        },
        saveLocalMirrors: async ({ mirrors: wanted }, { noteAct }) => {
          const { mirrors: from } = await local.shelf();
          const mirrors = await local.saveMirrors(wanted);
          noteAct({ subject: 'local_mirrors', from, to: mirrors });
          return { mirrors };
        },
      }) satisfies Partial<Handlers>,
  } satisfies Area;
};
