import type { Handlers } from '#server/http/handlers.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { KeyBox } from './channel-key.ts';
import { createManageModelService } from './manage-model.service.ts';
import type { ModelService } from './model.service.ts';

export const createManageModelHandlers = (deps: {
  keys: KeyBox;
  models: ModelService;
  fetch: GuardedFetch;
}) => {
  const service = createManageModelService(deps);
  const forget = () => deps.models.forget();
  return {
    adminModelList: (input, { db }) => service.list(db, input),
    setModel: async (input, { db, user, noteAct, afterCommit }) => {
      await service.set(db, input, user, noteAct);
      afterCommit(forget);
      return {};
    },
    channelList: (_input, { db }) => service.channels(db),
    channelHealth: ({ id }, { db }) => service.health(db, id),
    channelBalance: ({ id }, { db }) => service.balance(db, id),
    channelPresets: (_input, { db }) => service.presets(db),
    testChannel: (input, { db }) => service.test(db, input),
    saveChannel: async (input, { db, user, noteAct, afterCommit }) => {
      const saved = await service.save(db, input, user, noteAct);
      afterCommit(() =>
        input.kind === 'stable-diffusion-webui' ? deps.models.learn(saved.id) : forget(),
      );
      return saved;
    },
    importChannels: async ({ text }, { db, user, noteAct, afterCommit }) => {
      const made = await service.takeOver(db, text, user, noteAct);
      afterCommit(forget);
      return made;
    },
    setChannel: async (input, { db, noteAct, afterCommit }) => {
      await service.change(db, input, noteAct);
      afterCommit(forget);
      return {};
    },
    delChannel: async ({ id }, { db, noteAct, afterCommit }) => {
      await service.remove(db, id, noteAct);
      afterCommit(forget);
      return {};
    },
  } satisfies Partial<Handlers>;
};
