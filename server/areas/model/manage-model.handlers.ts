import type { Handlers } from '#server/http/handlers.ts';
import type { GuardedFetch } from '#server/net/guarded-fetch.ts';
import type { KeyBox } from './channel-key.ts';
import { balanceOf } from './channel-balance.ts';
import * as channels from './manage-channel.service.ts';
import { modelList, setModel } from './manage-model.service.ts';
import type { ModelService } from './model.service.ts';

export const createManageModelHandlers = (deps: {
  keys: KeyBox;
  models: ModelService;
  fetch: GuardedFetch;
}) => {
  const { keys } = deps;
  const forget = () => deps.models.forget();
  return {
    adminModelList: (input, { db }) => modelList(db, input),
    setModel: async (input, { db, user, noteAct, afterCommit }) => {
      await setModel(db, input, user, noteAct);
      afterCommit(forget);
      return {};
    },
    channelList: (_input, { db }) => channels.channelList(keys, db),
    channelHealth: ({ id }, { db }) => channels.channelHealth(db, id),
    channelBalance: ({ id }, { db }) => balanceOf(keys, db, id),
    channelPresets: (_input, { db }) => channels.presets(db),
    testChannel: (input, { db, user }) => channels.testChannel(deps, db, input, user),
    saveChannel: async (input, { db, user, noteAct, afterCommit }) => {
      const saved = await channels.saveChannel(keys, db, input, user, noteAct);
      afterCommit(() =>
        input.kind === 'stable-diffusion-webui' ? deps.models.learn(saved.id) : forget(),
      );
      return saved;
    },
    importChannels: async ({ text }, { db, user, noteAct, afterCommit }) => {
      const made = await channels.importChannels(keys, db, text, user, noteAct);
      afterCommit(forget);
      return made;
    },
    setChannel: async (input, { db, noteAct, afterCommit }) => {
      await channels.changeChannel(db, input, noteAct);
      afterCommit(forget);
      return {};
    },
    delChannel: async ({ id }, { db, noteAct, afterCommit }) => {
      await channels.removeChannel(db, id, noteAct);
      afterCommit(forget);
      return {};
    },
  } satisfies Partial<Handlers>;
};
